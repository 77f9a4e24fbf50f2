/* oracle_decode.c: what the decode judges share beyond oracle_scalar.h. */
#include "tests/oracle_decode.h"

float oracle_butterfly(float *x, int n)
{
    for (int offset = n / 2; offset > 0; offset /= 2)
        for (int i = 0; i < offset; i++)
            x[i] = x[i] + x[i + offset];
    return x[0];
}
