/* build.h: what build.c and inspect.c share. */
#ifndef FLASHULP_LESSONS_BUILD_H
#define FLASHULP_LESSONS_BUILD_H

#include "lessons/grade.h"

/* lab.c or lab.cu. */
const char *build_source(const struct built *b);
/* The student's file is at fault; false. */
bool build_refuse(struct built *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* False, with the sentence in b: the preprocessed text holds what a lab file may not. */
bool build_inspect(struct built *b, const char *text);

#endif
