/* folder.h: a folder of submissions, STUDENT.c (STUDENT.cu), one a student: a line for each.

   Graded by as many processes as there are cores, or --jobs N; the report has the students in
   alphabetical order and says the same whatever their number. */
#ifndef FLASHULP_LESSONS_FOLDER_H
#define FLASHULP_LESSONS_FOLDER_H

#include "lessons/course.h"
#include "simulator/scenario.h"

bool grade_folder(struct report *r, const struct scenario *s, const struct course *c,
                  const struct lab *lab, const char *folder, struct message *why);

#endif
