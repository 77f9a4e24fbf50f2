/* order_lanes.c: the lanes of a warp, read from text.

   lanes := "lanes:" owners ":" ["fused:"] offset ("," offset)*
   owners := "quad" | "mod" N | "(" lane (" " lane)* ")"
   The number of lanes is the largest owner and one, a power of two.  The offsets are those of a
   complete butterfly: lane 0 ends with every lane's sum, each once. */
#include "simulator/order.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = ORDER_MOST_LANES, MOST_COLUMNS = 1 << 16, MOST_OFFSETS = 10 };

static const char form[] =
    "lanes:quad:2,1, lanes:mod32:16,8,4,2,1 or \"lanes:(0 0 1 1):1\" is right";

/* The number at *at, which moves past it; -1: none, or beyond `most`. */
static int number_at(const char **at, int most)
{
    const char *digit = *at;
    int n = 0;
    for (; *digit >= '0' && *digit <= '9' && n <= most; digit++)
        n = 10 * n + (*digit - '0');
    bool good = digit != *at && n <= most;
    *at = digit;
    return good ? n : -1;
}

static bool table_owners(struct order_lanes *o, const char *text, const char **at,
                         struct message *why)
{
    for (++*at;; o->period++) {
        *at += strspn(*at, " ");
        if (**at == ')')
            break;
        int owner = number_at(at, MOST_LANES - 1);
        if (owner < 0 || (**at != ' ' && **at != ')') || o->period == MOST_COLUMNS)
            return refuse(why, "order \"%.60s\": a table of owners is lane numbers from 0 to %d in "
                          "parentheses: (0 0 1 1)", text, (int)MOST_LANES - 1);
        o->owner[o->period] = owner;
        o->lanes = owner >= o->lanes ? owner + 1 : o->lanes;
    }
    ++*at;
    o->table = true;
    return o->period > 0 || refuse(why, "order \"%.60s\": the table of owners is empty; %s", text,
                                   form);
}

/* quad: pairs of columns by turns, as the accumulators of a matrix instruction lie in a warp. */
static bool owners(struct order_lanes *o, const char *text, const char **at, struct message *why)
{
    bool quad = strncmp(*at, "quad", 4) == 0;
    if (**at == '(')
        return table_owners(o, text, at, why);
    if (!quad && strncmp(*at, "mod", 3) != 0)
        return refuse(why, "order \"%.60s\": the owners are quad, modN or a table of lanes; %s",
                      text, form);
    *at += quad ? 4 : 3;
    o->lanes = quad ? 4 : number_at(at, MOST_LANES);
    if (o->lanes < 0)
        return refuse(why, "order \"%.60s\": mod takes a number of lanes from 2 to %d: mod32", text,
                      (int)MOST_LANES);
    o->period = quad ? 8 : o->lanes;
    for (int c = 0; c < o->period; c++)
        o->owner[c] = quad ? c / 2 : c;
    return true;
}

/* Is the new offset the exclusive or of some of those before it?  Then some lanes would count
   twice and others not at all. */
static bool reached_before(const struct order_lanes *o, int offset)
{
    for (int set = 0; set < 1 << o->offsets; set++) {
        int reached = 0;
        for (int i = 0; i < o->offsets; i++)
            reached ^= set >> i & 1 ? o->offset[i] : 0;
        if (reached == offset)
            return true;
    }
    return false;
}

static bool butterfly(struct order_lanes *o, const char *text, const char *at, struct message *why)
{
    int needed = 0;
    while (1 << needed < o->lanes)
        needed++;
    for (;; at++) {
        int offset = number_at(&at, MOST_LANES);
        if (offset < 0 || (*at != ',' && *at != '\0'))
            return refuse(why, "order \"%.60s\": the butterfly's offsets are numbers with commas "
                          "between them; %s", text, form);
        if (offset >= o->lanes || o->offsets == needed || reached_before(o, offset))
            break;
        o->offset[o->offsets++] = offset;
        if (*at == '\0' && o->offsets == needed)
            return true;
        if (*at == '\0')
            break;
    }
    return refuse(why,
                  "order \"%.60s\": a butterfly over %d lanes takes %d offsets below %d that "
                  "bring each lane's sum to lane 0 once: %d, and half of each before",
                  text, o->lanes, needed, o->lanes, o->lanes / 2);
}

static bool read_lanes(struct order_lanes *o, const char *text, struct message *why)
{
    const char *at = text + strcspn(text, ":");
    if (*at != ':')
        return refuse(why, "order lanes needs owners and the offsets of a butterfly: %s", form);
    at++;
    if (!owners(o, text, &at, why))
        return false;
    if (o->lanes < 2 || o->lanes > MOST_LANES || (o->lanes & (o->lanes - 1)) != 0)
        return refuse(why,
                      "order \"%.60s\": %d lanes; their number must be a power of two from 2 to "
                      "%d",
                      text, o->lanes, (int)MOST_LANES);
    if (*at++ != ':')
        return refuse(why, "order \"%.60s\": a colon and the butterfly's offsets must follow the "
                      "owners; %s", text, form);
    if (strncmp(at, "fused:", 6) == 0) {
        o->fused = true;
        at += 6;
    }
    return butterfly(o, text, at, why);
}

static struct order_lanes *lanes_new(const char *text)
{
    size_t length = strlen(text);
    struct order_lanes *o = calloc(1, sizeof *o);
    assert(o != NULL);
    /* Each owner takes a character of a table; modN and quad need less than MOST_LANES. */
    o->owner = calloc(length + MOST_LANES, sizeof *o->owner);
    o->offset = calloc(MOST_OFFSETS, sizeof *o->offset);
    o->text = malloc(length + 1);
    assert(o->owner != NULL && o->offset != NULL && o->text != NULL);
    memcpy(o->text, text, length + 1);
    return o;
}

static void lanes_free(struct order_lanes *o)
{
    free(o->owner);
    free(o->offset);
    free(o->text);
    free(o);
}

/* Lanes given out live until the program ends, one for each text. */
struct kept_lanes {
    const struct order_lanes *lanes;
    struct kept_lanes *next;
};

const struct order_lanes *lanes_parse(const char *text, struct message *why)
{
    static struct kept_lanes *list;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct order_lanes *o = lanes_new(text);
    if (!read_lanes(o, text, why)) {
        lanes_free(o);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    struct kept_lanes *entry = list;
    while (entry != NULL && strcmp(entry->lanes->text, text) != 0)
        entry = entry->next;
    if (entry != NULL) {
        lanes_free(o);
    } else {
        entry = malloc(sizeof *entry);
        assert(entry != NULL);
        *entry = (struct kept_lanes){o, list};
        list = entry;
    }
    pthread_mutex_unlock(&lock);
    return entry->lanes;
}

int order_columns(const struct order *o)
{
    return o->kind == ORDER_LANES ? o->lanes->lanes : 1;
}
