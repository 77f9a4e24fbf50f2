/* worksheet.h: `flashulp worksheet 07 --student ID`: a personal example with blanks, and
   its marking.

   A few numbers, such as four scores in two tiles, drawn from the student's name (and the course's
   secret, if one is given), to be worked by hand.  A typed number is right if it is within the
   last digit typed, and has three significant digits or is exact. */
#ifndef FLASHULP_LESSONS_WORKSHEET_H
#define FLASHULP_LESSONS_WORKSHEET_H

#include "lessons/course.h"

enum { BLANKS = 14 };

struct worksheet {
    double x[4], v[4]; /* of those about softmax */
    char given[200];
    struct blank {
        char name[24], meaning[72];
        double value;
    } blank[BLANKS];
    int blanks;
};
/* The n-th, NULL behind the last (worksheet_forms.c). */
struct worksheet_form {
    const char *number; /* of the lab and lesson */
    void (*make)(struct worksheet *w, const unsigned char digest[32]);
};
const struct worksheet_form *worksheet_form(int n);

/* form: the lab, such as 05 (divided in every tile) or 07 (at the end). */
bool worksheet_new(struct worksheet *w, const char *form, const struct course *c,
                   const char *student, struct message *why);
bool worksheet_right(const struct blank *b, const char *typed);

/* The verb, words as behind `flashulp worksheet`; the exit status. */
int worksheet_main(int argc, char **argv);

#endif
