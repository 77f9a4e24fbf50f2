/* lessons.c: the table of lessons; see lessons.h. */
#include "simulator/lessons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/data.h"

#define ON(route) (1u << ROUTE_##route)
static const struct lesson_info lessons[] = {
#define LESSON(number, folder, title, minutes, routes)                                             \
    {number, folder, title, minutes, (routes) | ON(MODULE)},
#include "simulator/lessons.def"
#undef LESSON
};
enum { LESSONS = sizeof lessons / sizeof lessons[0] };

static const char *const routes[][2] = {
#define ROUTE(id, name, meaning) {name, meaning},
#include "simulator/lessons.def"
#undef ROUTE
};

const struct lesson_info *lesson_info(int n)
{
    return n >= 0 && n < LESSONS ? &lessons[n] : NULL;
}

const char *route_name(enum route r)
{
    return routes[r][0];
}

const char *route_meaning(enum route r)
{
    return routes[r][1];
}

bool lesson_on(const struct lesson_info *lesson, enum route r)
{
    return (lesson->routes >> r & 1) != 0;
}

const struct lesson_info *lesson_from_name(const char *name, struct message *why)
{
    char number[4];
    size_t length = strlen(name);
    bool digit = length == 1 && name[0] >= '0' && name[0] <= '9';
    snprintf(number, sizeof number, "%s%s", digit ? "0" : "", length <= 2 ? name : "");
    for (int n = 0; n < LESSONS; n++)
        if (strcmp(number, lessons[n].number) == 0 || strcmp(name, lessons[n].folder) == 0)
            return &lessons[n];
    refuse(why, "%.40s: no such lesson; they go from %s to %s, and flashulp lesson lists them", name,
           lessons[0].number, lessons[LESSONS - 1].number);
    return NULL;
}

char *lesson_path(const struct lesson_info *lesson, struct message *why)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s/README.md", lesson->number, lesson->folder);
    return shipped_file(SHIPPED_LESSONS, name, why);
}
