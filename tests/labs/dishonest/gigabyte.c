/* lab 07: begin printed more than 1000 kB */
#include "lab.h"
#include <stdio.h>
void begin(struct state *s)
{
    (void)s;
    for (int i = 0; i < 1 << 26; i++)
        puts("0123456789ABCDE");
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
