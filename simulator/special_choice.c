/* special_choice.c: which functions a choice of special functions changes, and how. */
#include "simulator/special.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "simulator/special_fa4.h"
#include "simulator/special_table.h"

#define LOG2E 0x1.715476p0f /* 3FB8AA3B */
#define LN2 0x1.62e430p-1f  /* 3F317218 */

const char *special_name(enum special how)
{
    static const char *const names[SPECIAL_COUNT] = {
#define SPECIAL(id, name, meaning) name,
#include "simulator/special.def"
#undef SPECIAL
    };
    return names[how];
}

/* The instruction behind a function. */
static enum table_function instruction(enum function fn)
{
    switch (fn) {
    case FUNCTION_EXP:
    case FUNCTION_EXP2:
        return TABLE_EX2;
    case FUNCTION_LOG:
    case FUNCTION_LOG2:
        return TABLE_LG2;
    case FUNCTION_TANH:
        return TABLE_TANH;
    default:
        return TABLE_RCP;
    }
}

bool special_is_cr(struct special_choice c, enum function fn)
{
    switch (c.how) {
    case SPECIAL_POLY:
        return fn == FUNCTION_RCP;
    case SPECIAL_EX2:
        return fn != FUNCTION_EXP;
    case SPECIAL_FA4:
        return fn != FUNCTION_EXP && fn != FUNCTION_EXP2;
    case SPECIAL_TABLE:
        return !special_table_has(c.table, instruction(fn));
    default:
        return true;
    }
}

static void scale(float *y, const float *x, float factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * factor;
}

/* 2^x. */
static void power_of_two(struct special_choice c, float *y, const float *x, size_t n)
{
    if (c.how == SPECIAL_EX2)
        special_cr(FUNCTION_EXP2, FORMAT_FP32, false, y, x, n);
    else if (c.how == SPECIAL_TABLE)
        special_table_apply(c.table, TABLE_EX2, y, x, n);
    for (size_t i = 0; i < n && c.how == SPECIAL_FA4; i++)
        y[i] = fa4_exp2(x[i]);
}

void special_float(struct special_choice c, enum function fn, float *y, const float *x, size_t n)
{
    assert(!special_is_cr(c, fn));
    if (c.how == SPECIAL_POLY) {
        special_poly(fn, y, x, n);
    } else if (fn == FUNCTION_EXP) {
        scale(y, x, LOG2E, n);
        power_of_two(c, y, y, n);
    } else if (fn == FUNCTION_EXP2) {
        power_of_two(c, y, x, n);
    } else {
        special_table_apply(c.table, instruction(fn), y, x, n);
        if (fn == FUNCTION_LOG)
            scale(y, y, LN2, n);
    }
}

static void add(struct special_text *t, const char *what)
{
    strncat(t->text, what, sizeof t->text - strlen(t->text) - 1);
}

/* "ex2, lg2 and rcp table:h200.tab, rest cr". */
static struct special_text table_words(const struct special_table *table)
{
    struct special_text t = {""};
    int has = 0, said = 0;
    for (int fn = 0; fn < TABLE_FUNCTIONS; fn++)
        has += special_table_has(table, (enum table_function)fn);
    for (int fn = 0; fn < TABLE_FUNCTIONS; fn++) {
        if (!special_table_has(table, (enum table_function)fn))
            continue;
        add(&t, said == 0 ? "" : said == has - 1 ? " and " : ", ");
        add(&t, table_function_name((enum table_function)fn));
        said++;
    }
    add(&t, " table:");
    add(&t, special_table_info(table).name);
    add(&t, has < TABLE_FUNCTIONS ? ", rest cr" : "");
    return t;
}

struct special_text special_words(struct special_choice c)
{
    struct special_text t;
    if (c.how == SPECIAL_TABLE)
        return table_words(c.table);
    snprintf(t.text, sizeof t.text, "exp %s%s", special_name(c.how),
             c.how == SPECIAL_FA4 ? ", log and tanh cr" : "");
    return t;
}
