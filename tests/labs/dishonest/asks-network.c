/* lab 07: begin crashed (SIGSYS, a call that is not allowed: files to write, processes, sockets\|m, l or O was never written */
#include "lab.h"
#include <sys/socket.h>
void begin(struct state *s)
{
    (void)s;
    socket(AF_INET, SOCK_STREAM, 0);
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
