/* mma_parse.c: the units' table, and an order's unit read from text.

   mma := "mma@" unit ["/" type] ("," switch "=" value)* */
#include "simulator/mma.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {
#define MMA_UNIT(id, name, meaning) name,
#include "simulator/mma.def"
#undef MMA_UNIT
};

static const char *const unit_meanings[] = {
#define MMA_UNIT(id, name, meaning) meaning,
#include "simulator/mma.def"
#undef MMA_UNIT
};

static const char *const type_names[] = {
#define MMA_TYPE(id, name, operands) name,
#include "simulator/mma.def"
#undef MMA_TYPE
};

static const struct mma_info infos[] = {
#define MMA(unit, type, L, F, fraction, e_zero, e_zero_fp16, evidence)                             \
    {MMA_##unit, MMA_TYPE_##type, L, F, fraction, e_zero, e_zero_fp16, evidence},
#include "simulator/mma.def"
#undef MMA
};

static const char *const reasons[MMA_UNITS][MMA_TYPES] = {
#define MMA_NONE(unit, type, reason) [MMA_##unit][MMA_TYPE_##type] = reason,
#include "simulator/mma.def"
#undef MMA_NONE
};

enum mma_switch {
#define MMA_SWITCH(id, name, values, meaning) SWITCH_##id,
#include "simulator/mma.def"
#undef MMA_SWITCH
    SWITCHES
};

static const char *const switch_names[] = {
#define MMA_SWITCH(id, name, values, meaning) name,
#include "simulator/mma.def"
#undef MMA_SWITCH
};

static const char *const switch_values[] = {
#define MMA_SWITCH(id, name, values, meaning) values,
#include "simulator/mma.def"
#undef MMA_SWITCH
};

const char *mma_unit_name(enum mma_unit u)
{
    return unit_names[u];
}

const char *mma_unit_meaning(enum mma_unit u)
{
    return unit_meanings[u];
}

const char *mma_type_name(enum mma_type t)
{
    return type_names[t];
}

const struct mma_info *mma_info(enum mma_unit u, enum mma_type t, const char **reason)
{
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        if (infos[i].unit == u && infos[i].type == t)
            return &infos[i];
    *reason = reasons[u][t];
    assert(*reason != NULL);
    return NULL;
}

bool mma_takes(const struct mma_info *info, enum format f)
{
    switch (info->type) {
    case MMA_TYPE_16BIT:
        return f == FORMAT_FP16 || (f == FORMAT_BF16 && info->unit >= MMA_SM80);
    case MMA_TYPE_TF32:
        return f == FORMAT_TF32 || f == FORMAT_FP32;
    default:
        return f == FORMAT_E4M3 || f == FORMAT_E5M2;
    }
}

/* The word at *at, up to one of `ends`, as an index of names; -1 when refused. */
static int word_at(const char *what, const char **at, const char *ends, const char *const *names,
                   int count, struct message *why)
{
    char word[32], all[160] = "";
    size_t length = strcspn(*at, ends);
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             *at);
    *at += length;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(all);
        if (strcmp(word, names[i]) == 0)
            return i;
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *near = nearest_name(word, names, count);
    if (near != NULL)
        refuse(why, "order mma: no %s is called \"%s\"; did you mean %s?", what, word, near);
    else
        refuse(why, "order mma: no %s is called \"%s\"; there are %s", what, word, all);
    return -1;
}

static bool e_zero_from(struct mma *m, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (value[0] != '-' || *end != '\0' || n < -160 || n > -14)
        return false;
    m->e_zero = (int)n;
    return true;
}

/* One of two words; *second says which. */
static bool choice(const char *value, const char *first, const char *other, bool *second)
{
    *second = strcmp(value, other) == 0;
    return *second || strcmp(value, first) == 0;
}

static bool read_switch(struct mma *m, const char **at, struct message *why)
{
    char value[16];
    int which = word_at("switch", at, "=,", switch_names, SWITCHES, why);
    if (which < 0)
        return false;
    *at += **at == '=';
    size_t length = strcspn(*at, ",");
    snprintf(value, sizeof value, "%.*s", (int)(length < sizeof value ? length : sizeof value - 1),
             *at);
    *at += length;
    bool good = which == SWITCH_ZEROS    ? choice(value, "excluded", "counted", &m->count_zeros)
                : which == SWITCH_E_ZERO ? e_zero_from(m, value)
                                         : choice(value, "kept", "lost", &m->lose_minus_zero);
    return good || refuse(why, "order mma: %s=%s: %s is right", switch_names[which], value,
                          switch_values[which]);
}

static bool read_mma(struct mma *m, const char *text, struct message *why)
{
    const char *at = text + strcspn(text, "@:"), *reason;
    if (*at != '@')
        return refuse(why, "order mma needs a unit: mma@sm90, mma@sm80/tf32 (flashulp list units)");
    at++;
    int type = MMA_TYPE_16BIT, unit = word_at("unit", &at, "/,", unit_names, MMA_UNITS, why);
    if (unit < 0)
        return false;
    if (*at == '/') {
        at++;
        type = word_at("operand type", &at, ",", type_names, MMA_TYPES, why);
        if (type < 0)
            return false;
    }
    m->info = mma_info((enum mma_unit)unit, (enum mma_type)type, &reason);
    if (m->info == NULL)
        return refuse(why, "order mma@%s/%s: %s; flashulp list units says what there is",
                      unit_names[unit], type_names[type], reason);
    while (*at == ',') {
        at++;
        if (!read_switch(m, &at, why))
            return false;
    }
    return true;
}

/* Orders given out live until the program ends, one for each text. */
struct kept_mma {
    struct mma mma;
    struct kept_mma *next;
};

static const struct mma *keep(const struct mma *m, const char *text)
{
    static struct kept_mma *list;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct kept_mma *entry = list;
    while (entry != NULL && strcmp(entry->mma.text, text) != 0)
        entry = entry->next;
    if (entry == NULL) {
        entry = malloc(sizeof *entry);
        assert(entry != NULL);
        *entry = (struct kept_mma){*m, list};
        entry->mma.text = malloc(strlen(text) + 1);
        assert(entry->mma.text != NULL);
        strcpy(entry->mma.text, text);
        list = entry;
    }
    pthread_mutex_unlock(&lock);
    return &entry->mma;
}

const struct mma *mma_parse(const char *text, struct message *why)
{
    struct mma m = {.info = NULL};
    return read_mma(&m, text, why) ? keep(&m, text) : NULL;
}
