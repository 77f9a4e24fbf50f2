/* devices.c: devices.def as data, and names to devices. */
#include "simulator/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct architecture_info architectures[ARCHITECTURE_COUNT] = {
#define ARCHITECTURE(id, name, meaning, per_sm, per_block, threads, blocks)                        \
    {name, meaning, per_sm, per_block, threads, blocks},
#include "simulator/devices.def"
#undef ARCHITECTURE
};

static const struct device_info devices[DEVICE_COUNT] = {
#define DEVICE(id, name, architecture, meaning) {name, ARCHITECTURE_##architecture, meaning},
#include "simulator/devices.def"
#undef DEVICE
};

static const struct {
    const char *name, *unit;
} quantities[QUANTITY_COUNT] = {
#define QUANTITY(id, name, unit) {name, unit},
#include "simulator/devices.def"
#undef QUANTITY
};

#define SOURCE(id, document) static const char source_##id[] = document;
#include "simulator/devices.def"
#undef SOURCE

static const struct {
    double value;
    const char *source;
} figures[DEVICE_COUNT][QUANTITY_COUNT] = {
#define FIGURE(device, quantity, value, source)                                                    \
    [DEVICE_##device][QUANTITY_##quantity] = {value, source_##source},
#include "simulator/devices.def"
#undef FIGURE
};

const struct architecture_info *architecture_info(enum architecture a)
{
    return &architectures[a];
}

const struct device_info *device_info(enum device d)
{
    return &devices[d];
}

double device_figure(enum device d, enum quantity_id q, const char **source)
{
    if (source != NULL)
        *source = figures[d][q].source;
    return figures[d][q].value;
}

const char *quantity_name(enum quantity_id q)
{
    return quantities[q].name;
}

const char *quantity_unit(enum quantity_id q)
{
    return quantities[q].unit;
}

/* Does `name` begin with `word`, in any case of letters? */
static bool begins(const char *name, const char *word)
{
    for (; *word != 0; name++, word++)
        if (tolower((unsigned char)*name) != tolower((unsigned char)*word))
            return false;
    return true;
}

static bool same(const char *name, const char *word)
{
    return strlen(name) == strlen(word) && begins(name, word);
}

/* "RTX-PRO-6000 (188 SMs) or RTX-5090 (170 SMs)": the devices marked. */
static void list_marked(const bool *marked, char *text, size_t room)
{
    int left = 0;
    for (int d = 0; d < DEVICE_COUNT; d++)
        left += marked[d];
    text[0] = 0;
    for (int d = 0; d < DEVICE_COUNT; d++) {
        size_t length = strlen(text);
        if (!marked[d])
            continue;
        snprintf(text + length, room - length, "%s (%.0f SMs)%s", devices[d].name,
                 figures[d][QUANTITY_SMS].value,
                 --left == 0 ? ""
                 : left == 1 ? " or "
                             : ", ");
    }
}

static bool refuse_architecture(const char *word, enum architecture a, struct message *why)
{
    bool marked[DEVICE_COUNT];
    char text[320];
    for (int d = 0; d < DEVICE_COUNT; d++)
        marked[d] = devices[d].architecture == a;
    list_marked(marked, text, sizeof text);
    return refuse(why, "%.40s is an architecture, not a device; %s is right", word, text);
}

/* Some devices' names begin with the word: name them.  False with nothing said when none do. */
static bool refused_beginning(const char *word, struct message *why)
{
    bool marked[DEVICE_COUNT], any = false;
    char text[320];
    for (int d = 0; d < DEVICE_COUNT; d++)
        any |= marked[d] = begins(devices[d].name, word);
    if (!any || word[0] == 0)
        return false;
    list_marked(marked, text, sizeof text);
    refuse(why, "%.40s is no device; %s is right", word, text);
    return true;
}

bool device_from_name(const char *name, enum device *d, struct message *why)
{
    const char *names[DEVICE_COUNT];
    for (int i = 0; i < DEVICE_COUNT; i++) {
        names[i] = devices[i].name;
        if (same(devices[i].name, name)) {
            *d = (enum device)i;
            return true;
        }
    }
    for (int a = 0; a < ARCHITECTURE_COUNT; a++)
        if (same(architectures[a].name, name))
            return refuse_architecture(name, (enum architecture)a, why);
    if (refused_beginning(name, why))
        return false;
    const char *near = nearest_name(name, names, DEVICE_COUNT);
    return near != NULL ? refuse(why, "unknown device \"%.40s\"; did you mean %s?", name, near)
                        : refuse(why, "unknown device \"%.40s\"; flashulp list devices", name);
}
