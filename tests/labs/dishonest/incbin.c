/* lab 07: line 3: inline assembly is not taken */
#include "lab.h"
__asm__(".section .rodata\nstolen: .incbin \"/etc/passwd\"\n");
void begin(struct state *s) { (void)s; }
