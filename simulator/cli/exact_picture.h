/* exact_picture.h: one row of attention as a picture: what each key adds to an output, and how large
   the exponentials are beside the numbers fp32 has. */
#ifndef FLASHULP_CLI_EXACT_PICTURE_H
#define FLASHULP_CLI_EXACT_PICTURE_H

#include "simulator/report.h"

/* Refused where an .svg is wanted and what is selected is not one row of a few visible keys. */
bool exact_picture(struct report *r, const struct problem *p, const struct selection *selection,
                   struct message *why);

#endif
