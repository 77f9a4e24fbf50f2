/* lessons.h: the table of lessons (lessons.def) and where their texts lie. */
#ifndef FLASHULP_LESSONS_H
#define FLASHULP_LESSONS_H

#include <stdbool.h>

#include "reference/message.h"

enum route {
#define ROUTE(id, name, meaning) ROUTE_##id,
#include "simulator/lessons.def"
#undef ROUTE
    ROUTE_COUNT
};

struct lesson_info {
    const char *number; /* two digits */
    const char *folder; /* lessons/NUMBER-FOLDER */
    const char *title;
    int minutes;     /* of reading, with its commands */
    unsigned routes; /* 1 << route */
};

/* NULL behind the last. */
const struct lesson_info *lesson_info(int n);
const char *route_name(enum route r);
const char *route_meaning(enum route r);
bool lesson_on(const struct lesson_info *lesson, enum route r);
/* "7", "07" or "fa2"; NULL and a sentence for anything else. */
const struct lesson_info *lesson_from_name(const char *name, struct message *why);
/* The path of its text, malloc'ed, or NULL and a sentence: $FLASHULP_LESSONS, lessons/ of the source
   tree, or share/flashulp/lessons beside the program's bin. */
char *lesson_path(const struct lesson_info *lesson, struct message *why);

#endif
