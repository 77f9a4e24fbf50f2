/* place.h: a number written down, and where it falls among the numbers of a format.

   The text is read exactly (to 8,192 bits, with the direction of what is cut off), never by way of
   a double: rounding is once, and a tie is a tie of the text itself. */
#ifndef FLASHULP_PLACE_H
#define FLASHULP_PLACE_H

#include "reference/format.h"
#include "reference/message.h"

struct decimal_place {
    double value; /* the number of the format nearest to the text, ties to even */
    int side;     /* sign of text - value; 0: the text is that number; overflow, also to the
                          NaN of e4m3, counts as an infinity */
    bool tie;     /* halfway between two numbers */
    double ulps;  /* (text - value) / ulp(value); 0 for infinities and NaN */
};

/* Decimal ("0.1", "1e-40"), C's hexadecimal ("0x1.8p-3"), "inf", "nan"; f is not exact. */
bool decimal_place(const char *text, enum format f, struct decimal_place *place,
                   struct message *why);

#endif
