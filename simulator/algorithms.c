/* algorithms.c: the names of algorithms.def: listings and faults. */
#include <string.h>

#include "simulator/simulate.h"

static const struct algorithm_info algorithms[ALGORITHM_COUNT] = {
#define ALGORITHM(id, name, title, function, Br, Bc, meaning, source) \
    {name, title, meaning, source, function, Br, Bc},
#include "simulator/algorithms.def"
#undef ALGORITHM
};

static const char *const fault_names[FAULT_COUNT] = {
#define FAULT(id, name, meaning) name,
#include "simulator/algorithms.def"
#undef FAULT
};

static const char *const fault_meanings[FAULT_COUNT] = {
#define FAULT(id, name, meaning) meaning,
#include "simulator/algorithms.def"
#undef FAULT
};

const struct algorithm_info *algorithm_info(enum algorithm a)
{
    return &algorithms[a];
}

bool algorithm_from_name(const char *name, enum algorithm *a, struct message *why)
{
    const char *names[ALGORITHM_COUNT];
    for (int i = 0; i < ALGORITHM_COUNT; i++) {
        names[i] = algorithms[i].name;
        if (strcmp(name, names[i]) == 0) {
            *a = (enum algorithm)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, ALGORITHM_COUNT);
    return near != NULL ? refuse(why, "unknown algorithm \"%s\"; did you mean %s?", name, near)
                        : refuse(why, "unknown algorithm \"%s\"; flashulp list algorithms", name);
}

const char *fault_name(enum fault f)
{
    return fault_names[f];
}

const char *fault_meaning(enum fault f)
{
    return fault_meanings[f];
}

bool fault_from_name(const char *name, enum fault *f, struct message *why)
{
    for (int i = 0; i < FAULT_COUNT; i++)
        if (strcmp(name, fault_names[i]) == 0) {
            *f = (enum fault)i;
            return true;
        }
    const char *near = nearest_name(name, fault_names, FAULT_COUNT);
    return near != NULL ? refuse(why, "unknown fault \"%s\"; did you mean %s?", name, near)
                        : refuse(why, "unknown fault \"%s\"; flashulp list faults", name);
}

unsigned algorithm_faults(enum algorithm a)
{
    return a == ALGORITHM_FA2_PRINTED ? (1u << FAULT_COUNT) - 1 : 0;
}
