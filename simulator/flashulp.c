/* flashulp.c: flashulp.h over scenario, simulate and certified.  Nothing is computed here. */
#include "simulator/flashulp.h"

#include <stdlib.h>
#include <string.h>

#include "reference/certified.h"
#include "simulator/scenario_parts.h"

#ifndef VERSION
#define VERSION "unknown"
#endif

struct flashulp {
    struct scenario scenario;
    struct scenario_input input;
    struct simulation simulation;
    bool ready; /* the three above are filled */
    char *command;
    double *O, *lse; /* b, h, n, d */
    uint64_t digest;
    bool refused;
    struct message why;
};

int flashulp_abi(void)
{
    return FLASHULP_ABI;
}

const char *flashulp_version(void)
{
    return VERSION;
}

/* Options that only the program can honour are refused rather than passed over. */
static bool only_the_programs(const struct scenario *s, struct message *why)
{
    for (int o = 0; o < OPTION_COUNT; o++)
        if (s->given[o] && (option_info((enum option)o)->groups & (GROUP_PROBLEM | GROUP_RUN)) == 0)
            return !refuse(why, "%s is the program's; the library takes options of problem and run",
                           option_info((enum option)o)->name);
    return false;
}

static bool prepare(struct flashulp *f, int count, const char *const *words)
{
    unsigned groups = command_info(COMMAND_RUN)->groups;
    struct message *why = &f->why;
    if (!scenario_parse(&f->scenario, "run", groups, count, (char **)words, why))
        return false;
    if (only_the_programs(&f->scenario, why) || !scenario_problem(&f->scenario, &f->input, why))
        return false;
    f->ready = scenario_simulation(&f->scenario, &f->input, &f->simulation, why);
    if (!f->ready)
        scenario_input_free(&f->input);
    return f->ready;
}

flashulp *flashulp_new(int count, const char *const *words)
{
    struct flashulp *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->refused = !prepare(f, count, words);
    if (f->ready)
        f->command = scenario_command(&f->scenario);
    return f;
}

void flashulp_free(flashulp *f)
{
    if (f == NULL)
        return;
    if (f->ready)
        scenario_input_free(&f->input);
    scenario_free(&f->scenario);
    free(f->command);
    free(f->O);
    free(f->lse);
    free(f);
}

const char *flashulp_why(const flashulp *f)
{
    return f->refused ? f->why.text : NULL;
}

const char *flashulp_command(const flashulp *f)
{
    return f->command;
}

void flashulp_shape(const flashulp *f, int64_t shape[4])
{
    const struct problem *p = &f->input.problem;
    shape[0] = p->B;
    shape[1] = p->Hq;
    shape[2] = p->Nq;
    shape[3] = p->D;
}

/* A result's units lie one behind the other; packed sequences go back to their rows here. */
static bool take(struct flashulp *f, const struct result *result)
{
    const struct problem *p = &f->input.problem;
    int64_t rows = p->B * p->Hq * p->Nq, from = 0;
    double *O = malloc((size_t)(rows * p->D + 1) * sizeof *O);
    double *lse = malloc((size_t)(rows + 1) * sizeof *lse);
    if (O == NULL || lse == NULL) {
        free(O);
        free(lse);
        return refuse(&f->why, "no memory for %lld numbers", (long long)(rows * p->D));
    }
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        int64_t to = (h.batch * p->Hq + h.head) * p->Nq + h.q0;
        memcpy(O + to * p->D, result->O + from * p->D, (size_t)(h.Nq * p->D) * sizeof *O);
        memcpy(lse + to, result->lse + from, (size_t)h.Nq * sizeof *lse);
        from += h.Nq;
    }
    free(f->O);
    free(f->lse);
    f->O = O;
    f->lse = lse;
    f->digest = result->digest;
    return true;
}

bool flashulp_run(flashulp *f)
{
    struct result result;
    if (!f->ready)
        return false;
    bool ok = simulate(&f->input.problem, &f->simulation, &result, &f->why);
    if (ok) {
        ok = take(f, &result);
        result_free(&result);
    }
    f->refused = !ok;
    return ok;
}

const double *flashulp_output(const flashulp *f)
{
    return f->O;
}

const double *flashulp_lse(const flashulp *f)
{
    return f->lse;
}

uint64_t flashulp_digest(const flashulp *f)
{
    return f->digest;
}

static bool outside(int64_t i, int64_t least, int64_t size)
{
    return i < least || i >= size;
}

/* The unit that computes row n of (b, h), or -1. */
static int64_t unit_of(const struct problem *p, int64_t b, int64_t h, int64_t n)
{
    for (int64_t u = 0; u < problem_units(p); u++) {
        struct head head = problem_head(p, u);
        if (head.batch == b && head.head == h && n >= head.q0 && n < head.q0 + head.Nq)
            return u;
    }
    return -1;
}

static char *exact(const struct problem *p, int64_t unit, int64_t n, int64_t d, int digits,
                   struct message *why)
{
    struct head h = problem_head(p, unit);
    struct certified_row *row = certified_row_new(&h, n - h.q0);
    struct certified c;
    certified_init(&c);
    char *text =
        d < 0 ? certified_digits_lse(row, digits, &c) : certified_digits(row, d, digits, &c);
    if (c.kind == CERTIFIED_FINITE && !c.decided) {
        refuse(why, "undecided at %ld bits", (long)c.precision);
        free(text);
        text = NULL;
    }
    certified_clear(&c);
    certified_row_free(row);
    return text;
}

char *flashulp_exact(flashulp *f, int64_t b, int64_t h, int64_t n, int64_t d, int digits)
{
    const struct problem *p = &f->input.problem;
    char *text = NULL;
    if (!f->ready)
        return NULL;
    int64_t unit = unit_of(p, b, h, n);
    if (unit < 0 || outside(d, -1, p->D))
        refuse(&f->why, "[%lld,%lld,%lld,%lld] is outside the shape %lld,%lld,%lld,%lld",
               (long long)b, (long long)h, (long long)n, (long long)d, (long long)p->B,
               (long long)p->Hq, (long long)p->Nq, (long long)p->D);
    else if (outside(digits, 1, 100001))
        refuse(&f->why, "%d digits: 1 to 100,000 is right", digits);
    else
        text = exact(p, unit, n, d, digits, &f->why);
    f->refused = text == NULL;
    return text;
}

void flashulp_text_free(char *text)
{
    free(text);
}

bool flashulp_trace(flashulp *f, const char *path, bool force)
{
    if (!f->ready)
        return false;
    struct trace *t = scenario_trace(&f->scenario, TRACE_VALUES, true, &f->why);
    f->refused = t == NULL || !trace_write(t, path, force, &f->why);
    if (t != NULL)
        trace_free(t);
    return !f->refused;
}
