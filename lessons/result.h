/* result.h: what a graded lab is printed as: text, JSON, JUnit XML, Gradescope's results.json. */
#ifndef FLASHULP_LESSONS_RESULT_H
#define FLASHULP_LESSONS_RESULT_H

#include "lessons/grade.h"
#include "simulator/report.h"

/* How much a student is told: the cause, which property, or only the points. */
enum feedback { FEEDBACK_CAUSE, FEEDBACK_PROPERTY, FEEDBACK_NONE };

struct graded {
    const struct lab *lab;
    const char *file; /* as the user named it */
    struct built built;
    struct variant variant;
    struct grading grading;
    enum feedback feedback;
    bool show_hidden; /* hidden properties count and are named now */
    bool due;         /* else Gradescope shows them after the due date, not when published */
    double seconds;
};

void result_text(struct report *r, const struct graded *x);
void result_json(struct report *r, const struct graded *x);
char *result_junit(const struct graded *x);      /* malloc'ed */
char *result_gradescope(const struct graded *x); /* malloc'ed */
/* "variant s1234: KV last to first", or "". */
struct variant_text {
    char text[128];
};
struct variant_text variant_text(const struct lab *lab, const struct variant *v);
int result_points(const struct graded *x);
/* What a property's row says: "ok", a sentence, "not tried", as far as it may be told. */
const char *result_sentence(const struct graded *x, int property);
bool result_told(const struct graded *x, int property); /* its points are shown now */

#endif
