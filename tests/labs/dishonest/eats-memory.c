/* lab 07: begin crashed (SIGSEGV, a wrong address) at line 8 */
#include "lab.h"
#include <stdlib.h>
void begin(struct state *s)
{
    for (int i = 0; i < 1000; i++) {
        char *piece = malloc(1 << 24);
        memset(piece, 1, 1 << 24);
        s->m[0] = piece[5];
    }
}
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
