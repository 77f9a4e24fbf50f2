/* lab 07: begin was still running after 1 s\|begin crashed (SIGSYS */
#include "lab.h"
#include <unistd.h>
void begin(struct state *s)
{
    (void)s;
    for (;;)
        fork();
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
