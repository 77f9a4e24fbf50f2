/* lab 07: line 3: this directive is not taken: #pragma GCC pch_preprocess */
#include "lab.h"
#pragma GCC pch_preprocess "/etc/passwd"
void begin(struct state *s) { (void)s; }
