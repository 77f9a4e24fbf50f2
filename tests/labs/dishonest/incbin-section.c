/* lab 07: line 3: an attribute whose text the assembler would obey is not taken */
#include "lab.h"
__attribute__((section(".rodata\n\t.incbin \"/etc/passwd\"\n\t.section .data"))) int stolen = 1;
void begin(struct state *s) { (void)s; }
void next_tile(struct state *s) { (void)s; }
void fold_tile(struct state *s) { (void)s; }
void finish(struct state *s) { (void)s; }
