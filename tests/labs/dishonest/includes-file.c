/* lab 07: line 3 includes /etc/passwd; lab.h and the C library.s headers are right */
#include "lab.h"
#include "/etc/passwd"
