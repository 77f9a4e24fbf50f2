/* lab 07: row 0: m, l or O was never written */
#include "lab.h"
void begin(struct state *s) { (void)s; }
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
