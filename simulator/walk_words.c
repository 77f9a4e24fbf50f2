/* walk_words.c: numbers and equations of a walk as text.

   steps.def writes its equations for tiles (S, P, V); a walk is about one row, where a score is x
   (given) or s, its weight p, and with D = 1 a value v. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "simulator/walk.h"

enum { DIGITS = 8 };

static void strip_zeros(char *text)
{
    char *end = strchr(text, 'e'), rest[16] = "";
    if (strchr(text, '.') == NULL)
        return;
    if (end != NULL)
        snprintf(rest, sizeof rest, "%s", end);
    end = end != NULL ? end : text + strlen(text);
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    strcpy(end, rest);
}

struct number_text walk_number(double high, double low, int width)
{
    struct number_text n;
    if (!isfinite(high))
        return number_text(FORMAT_FP64, high);
    for (int digits = DIGITS; digits > 0; digits--) {
        double x = high + low;
        snprintf(n.text, sizeof n.text, "%.*e", digits - 1, x);
        int exponent = x == 0 ? 0 : atoi(strchr(n.text, 'e') + 1);
        if (exponent >= -5 && exponent < DIGITS)
            snprintf(n.text, sizeof n.text, "%.*f", exponent < digits ? digits - 1 - exponent : 0,
                     x);
        if (strtod(n.text, NULL) == high && low == 0)
            strip_zeros(n.text);
        if ((int)strlen(n.text) <= width)
            break;
    }
    return n;
}

struct number_text walk_drift_text(const struct walk_line *line)
{
    struct number_text n = {""};
    double size = fabs(line->drift);
    if (line->kind == WALK_OTHER_KIND)
        strcpy(n.text, "!");
    else if (line->kind == WALK_DRIFT && line->drift == 0)
        strcpy(n.text, "0");
    else if (line->kind == WALK_DRIFT)
        snprintf(n.text, sizeof n.text,
                 size < 99.995   ? "%+.2f"
                 : size < 9999.5 ? "%+.0f"
                                 : "%+.0e",
                 line->drift);
    return n;
}

struct number_text walk_at_digits(double value, const char *figure)
{
    struct number_text n, longer;
    const char *point = strchr(figure, '.');
    int decimals = point != NULL ? (int)strlen(point + 1) : 0;
    snprintf(n.text, sizeof n.text, "%.*f", decimals, value);
    snprintf(longer.text, sizeof longer.text, "%.*f", decimals + 1, value);
    bool tie = longer.text[strlen(longer.text) - 1] == '5' && strtod(longer.text, NULL) == value;
    return tie ? longer : n;
}

/* A merge's line; NULL for other steps. */
static const char *merge_equation(const struct walk *w, const struct event *e)
{
    if (e->step != STEP_COMBINE || w->simulation.is_kernel)
        return NULL;
#define MERGE_LINE(merge_id, tensor_id, text)                                                      \
    if (w->simulation.choices.merge == MERGE_##merge_id && e->tensor == TENSOR_##tensor_id)        \
        return text;
#include "simulator/decode.def"
#undef MERGE_LINE
    return NULL;
}

const char *walk_tile_equation(const struct walk *w, const struct event *e)
{
    static const char *const equations[STEP_COUNT] = {
#define STEP(id, label, equation, ...) equation,
#include "simulator/steps.def"
#undef STEP
    };
#define LINE(step_id, tensor_id, text)                                                             \
    if (e->step == STEP_##step_id && e->tensor == TENSOR_##tensor_id)                              \
        return text;
#include "simulator/steps.def"
#undef LINE
    const char *merge = merge_equation(w, e);
    return merge != NULL ? merge : equations[e->step];
}

/* Are the weights relative to their own tile's maximum? */
static bool relative_to_tile(const struct simulation *s)
{
    return s->algorithm == ALGORITHM_FA1 || s->algorithm == ALGORITHM_UNSTABLE ||
           s->choices.faults >> FAULT_TILE_MAX & 1;
}

/* What a letter of the tile's equation is called in the row's. */
static const char *row_letter(const struct walk *w, const struct event *e, const char *letter)
{
    bool single = w->head.D == 1;
    bool m_tile = w->simulation.algorithm == ALGORITHM_FA1 ||
                  w->simulation.algorithm == ALGORITHM_FA2_PRINTED;
    if (strcmp(letter, "S") == 0)
        return e->tensor == TENSOR_M && m_tile ? "m_t" : w->input.problem.scores_given ? "x" : "s";
    if (strcmp(letter, "P") == 0)
        return "p";
    if (strcmp(letter, "Q") == 0)
        return "q";
    if (strcmp(letter, "V") == 0)
        return single ? "v" : "V";
    if (strcmp(letter, "K^T") == 0)
        return single ? "k" : "K^T";
    if (strcmp(letter, "V^T") == 0)
        return single ? "v" : "V^T";
    if (strcmp(letter, "m") == 0 && e->step == STEP_EXP && relative_to_tile(&w->simulation))
        return "m_t";
    if (strcmp(letter, "format") == 0)
        return e->site < SITE_COUNT ? format_info(w->simulation.policy.site[e->site].format)->name
                                    : "memory";
    return letter;
}

static bool in_letter(char c)
{
    return isalnum((unsigned char)c) || strchr("_~^", c) != NULL;
}

/* Takes the next letter (a name such as m_old, O~, K^T) or a single other character. */
static const char *next_letter(const char *at, char letter[16])
{
    size_t length = 0;
    while (at[length] != 0 && in_letter(at[length]))
        length++;
    if (length > 1 && at[0] == 'e' && at[1] == '^')
        length = 2; /* e^( */
    length = length == 0 ? 1 : length < 15 ? length : 15;
    memcpy(letter, at, length);
    letter[length] = 0;
    return at + length;
}

void walk_equation(const struct walk *w, size_t event, char *text, size_t room)
{
    const struct event *e = trace_event(w->trace, event);
    char letter[16];
    text[0] = 0;
    for (const char *at = walk_tile_equation(w, e); *at != 0;) {
        at = next_letter(at, letter);
        strncat(text, row_letter(w, e, letter), room - strlen(text) - 1);
    }
}

enum { TERMS = 4 }; /* of a sum; then "..." */

struct filled {
    const struct walk *w;
    size_t event;
    const struct event *e;
    int col;
    char *text;
    bool operand; /* the last thing written is one: a product's sign comes before the next */
};

static void put_number(struct filled *f, double x)
{
    text_append(&f->text, x < 0 && f->operand ? "(%s)" : "%s", walk_number(x, 0, 16).text);
}

/* The row's score or weight of every key, and with `times` the value beside it. */
static void put_terms(struct filled *f, enum tensor_name t, const char *between,
                      enum tensor_name times)
{
    int cols, value_cols = 1, lo, hi, put = 0;
    const double *row = walk_before(f->w, f->event, t, &cols);
    const double *values = walk_before(f->w, f->event, times, &value_cols);
    walk_seen(f->w, f->event, &lo, &hi);
    if (f->e->tensor != TENSOR_S && f->e->tensor != TENSOR_P) {
        hi = cols;
        walk_operand_seen(f->w, f->event, t, &lo, &hi);
    }
    for (int c = lo; row != NULL && c < hi; c++, put++) {
        text_append(&f->text, "%s", put > 0 ? between : "");
        if (put == TERMS && hi - c > 1) {
            text_append(&f->text, "...");
            return;
        }
        put_number(f, row[c]);
        if (times != TENSOR_SCRATCH && values != NULL)
            text_append(
                &f->text, " x %s",
                walk_number(values[(size_t)c * (size_t)value_cols + (size_t)f->col], 0, 16).text);
    }
    if (put == 0)
        text_append(&f->text, "nothing");
}

/* q . k of key `col`. */
static void put_dot(struct filled *f)
{
    int D, cols;
    const double *q = walk_before(f->w, f->event, TENSOR_Q, &D);
    const double *k = walk_before(f->w, f->event, TENSOR_K, &cols);
    for (int d = 0; q != NULL && k != NULL && d < D; d++) {
        text_append(&f->text, "%s", d > 0 ? " + " : "");
        if (d == TERMS && D - d > 1) {
            text_append(&f->text, "...");
            return;
        }
        text_append(&f->text, "%s x %s", walk_number(q[d], 0, 12).text,
                    walk_number(k[(size_t)f->col * (size_t)cols + (size_t)d], 0, 12).text);
    }
}

/* The running maximum before this tile's. */
static double old_maximum(const struct walk *w, size_t event)
{
    while (event-- > 0) {
        const struct event *e = trace_event(w->trace, event);
        if (e->i == (uint32_t)w->query_tile && e->tensor == TENSOR_M)
            return walk_earlier(w, event, TENSOR_M, 0);
    }
    return -INFINITY;
}

static bool put_scalar(struct filled *f, const char *letter)
{
    static const struct {
        const char *letter;
        enum tensor_name tensor;
        bool of_column; /* one number for each column, else one for the row */
    } scalars[] = {
        {"m", TENSOR_M, false},        {"m_t", TENSOR_M_TILE, false}, {"l", TENSOR_L_SUM, false},
        {"l_t", TENSOR_L_TILE, false}, {"a", TENSOR_DECAY, false},    {"w", TENSOR_L_OLD, false},
        {"b", TENSOR_GROWTH, false},   {"S", TENSOR_S, true},         {"P", TENSOR_P, true},
        {"O", TENSOR_O, true},         {"O~", TENSOR_O_ACC, true},    {"Y", TENSOR_Y, true}};
    int cols;
    bool noted = strcmp(letter, "a") != 0 && strcmp(letter, "b") != 0 && strcmp(letter, "w") != 0;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (strcmp(scalars[i].letter, letter) != 0)
            continue;
        enum tensor_name t = scalars[i].tensor;
        if (!noted && walk_before(f->w, f->event, t, &cols) == NULL)
            return false; /* a factor that the listing keeps to itself */
        if (f->operand)
            text_append(&f->text, " x ");
        put_number(f, walk_earlier(f->w, f->event, t, scalars[i].of_column ? f->col : 0));
        return true;
    }
    return false;
}

/* The scale: a number, or 1/sqrt(d). */
static void put_scale(struct filled *f)
{
    const struct scale *scale = &f->w->input.problem.scale;
    text_append(&f->text, "%s", walk_number(scale->value, 0, 12).text);
    if (scale->root != 1)
        text_append(&f->text, "/sqrt(%lld)", (long long)scale->root);
}

/* Writes what the letter stands for; returns how much of the equation behind it that covers too. */
static int put_letter(struct filled *f, const char *letter, const char *rest)
{
    bool of_row = f->e->step == STEP_ROW_MAX && strcmp(letter, "S") == 0;
    if (strcmp(letter, "sum") == 0) {
        put_terms(f, TENSOR_P, " + ", TENSOR_SCRATCH);
        return 2; /* " P" */
    }
    if (strcmp(letter, "P") == 0 && f->e->step == STEP_PV) {
        put_terms(f, TENSOR_P, " + ", TENSOR_V);
        return 2; /* " V" */
    }
    if (strcmp(letter, "Q") == 0) {
        put_dot(f);
        return (int)strlen(rest);
    }
    if (of_row && strcmp(row_letter(f->w, f->e, letter), "m_t") == 0)
        put_scalar(f, "m_t");
    else if (of_row)
        put_terms(f, TENSOR_S, ", ", TENSOR_SCRATCH);
    else if (strcmp(letter, "m_old") == 0)
        put_number(f, old_maximum(f->w, f->event));
    else if (strcmp(letter, "c") == 0 && f->e->step == STEP_SCALE)
        put_scale(f);
    else if (!put_scalar(f, row_letter(f->w, f->e, letter)) && !put_scalar(f, letter))
        text_append(&f->text, "%s", row_letter(f->w, f->e, letter));
    return 0;
}

char *walk_substituted(const struct walk *w, size_t event, const struct walk_line *line)
{
    struct filled f = {.w = w, .event = event, .e = trace_event(w->trace, event), .col = line->col};
    if (w->backward)
        return walk_substituted_backward(w, event, line);
    const char *equation = walk_tile_equation(w, f.e), *right = strstr(equation, "= ");
    char letter[16];
    if (f.e->step == STEP_COMBINE) { /* sums over all groups: in letters */
        text_append(&f.text, "%s", right != NULL ? right + 2 : equation);
        return f.text;
    }
    text_append(&f.text, "%s", "");
    for (const char *at = right != NULL ? right + 2 : equation; *at != 0;) {
        bool name = isalpha((unsigned char)*at);
        const char *rest = next_letter(at, letter);
        bool function = rest[0] == '(' || strcmp(letter, "ln") == 0 || strcmp(letter, "e^") == 0;
        if (!name || function) {
            bool juxtaposed = f.operand && letter[0] == ' ' && in_letter(rest[0]);
            if (!juxtaposed)
                text_append(&f.text, "%s", letter);
            f.operand = (f.operand && juxtaposed) || letter[0] == ')';
            at = rest;
            continue;
        }
        at = rest + put_letter(&f, letter, rest);
        f.operand = true;
    }
    return f.text;
}
