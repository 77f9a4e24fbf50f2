/* claims_b3.c: claim B3: the printed FA2 tile kernel, its three faults on and off, in exact and in
   fp32 arithmetic, and the smallest counterexample to each, by search.

   Order of the search: number of keys; key tile; scores, the first changing fastest; values
   likewise; at last one key of value 1 under lower and lower scores (fp32's underflow). */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/certified.h"
#include "simulator/claims_parts.h"

enum { MOST_KEYS = 4 };

struct candidate {
    int keys, Bc;
    double x[MOST_KEYS], v[MOST_KEYS];
    double truth, scale; /* attention, and sum pi |v| */
};

struct space {
    struct candidate *list;
    int count, room;
};

static void append(struct space *s, struct candidate c)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 256;
        s->list = realloc(s->list, (size_t)s->room * sizeof *s->list);
        if (s->list == NULL)
            abort();
    }
    struct problem p = scores_problem(c.x, c.v, c.keys);
    struct head h = problem_head(&p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    c.truth = certified_round(row, 0, FORMAT_FP64, NULL);
    c.scale = certified_weight(row, 0);
    certified_row_free(row);
    problem_free(&p);
    s->list[s->count++] = c;
}

/* The n-th choice of `keys` numbers from list[0..size), the first changing fastest; false past the
   last one. */
static bool choose(int n, int keys, const double *list, int size, double *out)
{
    for (int i = 0; i < keys; i++, n /= size)
        out[i] = list[n % size];
    return n == 0;
}

static struct space space_of(const struct claim_inputs *in)
{
    struct space s = {0};
    double score[CLAIM_NUMBERS], value[CLAIM_NUMBERS];
    int scores = claim_numbers(in, INPUT_B3_SCORES, score, CLAIM_NUMBERS);
    int values = claim_numbers(in, INPUT_B3_VALUES, value, CLAIM_NUMBERS);
    int most = (int)claim_number(in, INPUT_B3_KEYS, 0),
        tiles = (int)claim_number(in, INPUT_B3_TILES, 0);
    assert(most <= MOST_KEYS && scores > 0 && values > 0);
    struct candidate c = {0};
    for (c.keys = 1; c.keys <= most; c.keys++)
        for (c.Bc = 1; c.Bc <= tiles; c.Bc++)
            for (int i = 0; choose(i, c.keys, score, scores, c.x); i++)
                for (int j = 0; choose(j, c.keys, value, values, c.v); j++)
                    append(&s, c);
    for (double x = 0; x >= claim_number(in, INPUT_B3_LOWEST, 0); x--)
        append(&s, (struct candidate){.keys = 1, .Bc = 1, .x = {x}, .v = {1}});
    return s;
}

/* Exact: the same double as the certified value.  fp32: within 64 roundoffs of sum pi |v|; an
   output of at most four keys meets fewer than that many roundings. */
static bool right(const struct candidate *c, unsigned faults, bool exact, double *got)
{
    struct problem p = scores_problem(c->x, c->v, c->keys);
    struct simulation s = exact ? exact_run(ALGORITHM_FA2_PRINTED, c->Bc)
                                : policy_run(ALGORITHM_FA2_PRINTED, POLICY_FP32, c->Bc);
    s.choices.faults = faults;
    struct result r = claim_run(&p, &s);
    *got = r.O[0];
    result_free(&r);
    problem_free(&p);
    return exact ? *got == c->truth : fabs(*got - c->truth) <= 64 * 0x1p-24 * c->scale;
}

/* The first input that is wrong under `faults` (and right under `but`, unless that is the same). */
static const struct candidate *search(const struct space *s, unsigned faults, unsigned but,
                                      bool exact, double *got)
{
    double other;
    for (int i = 0; i < s->count; i++)
        if (!right(&s->list[i], faults, exact, got) &&
            (but == faults || right(&s->list[i], but, exact, &other)))
            return &s->list[i];
    return NULL;
}

static void explain_numbers(struct claim_outcome *out, const char *name, const double *x, int keys)
{
    explain(out, "%s =", name);
    for (int c = 0; c < keys; c++)
        explain(out, " %g", x[c]);
}

static void explain_candidate(struct claim_outcome *out, const struct candidate *c, double got)
{
    explain_numbers(out, "x", c->x, c->keys);
    explain_numbers(out, ", v", c->v, c->keys);
    explain(out, ", tile %d: ", c->Bc);
    explain(out, isnan(got) ? "no number" : "%.4g", got);
    explain(out, " for %.4g", c->truth);
}

static void explain_faults(struct claim_outcome *out, unsigned faults)
{
    bool first = true;
    for (int f = 0; f < FAULT_COUNT; f++)
        if (faults >> f & 1) {
            explain(out, "%s%s", first ? "" : ", ", fault_name((enum fault)f));
            first = false;
        }
    explain(out, "%s\n", first ? "no fault" : "");
}

/* One line of the matrix; returns whether a counterexample was found. */
static bool explain_cell(struct claim_outcome *out, const struct space *s, unsigned faults,
                         bool exact)
{
    double got;
    const struct candidate *c = search(s, faults, faults, exact, &got);
    explain(out, "    %s  ", exact ? "exact" : "fp32 ");
    if (c != NULL)
        explain_candidate(out, c, got);
    else
        explain(out, "right on all %d inputs", s->count);
    explain(out, "\n");
    return c != NULL;
}

/* zero-start is no fault of its own in exact arithmetic, but it makes tile-max worse. */
static void explain_interplay(struct claim_outcome *out, const struct space *s)
{
    const unsigned tile_max = 1u << FAULT_TILE_MAX, both = tile_max | 1u << FAULT_ZERO_START;
    double got;
    const struct candidate *c = search(s, both, tile_max, true, &got);
    if (c == NULL)
        return;
    explain(out, "Right with tile-max alone, wrong with zero-start too:\n    exact  ");
    explain_candidate(out, c, got);
    explain(out, "\n");
}

void claim_b3(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct space s = space_of(in);
    unsigned printed = (unsigned)claim_number(in, INPUT_B3_PRINTED, 0);
    double got;
    int wrong[2] = {0};
    const struct candidate *c = search(&s, printed, printed, true, &got);
    out->verdict = verdict_of(c == NULL);
    if (c != NULL) {
        explain(out, "As printed, in exact arithmetic: ");
        explain_candidate(out, c, got);
        explain(out, "\n");
    }
    explain(out, "The smallest counterexample to each set of faults, of %d inputs:\n", s.count);
    for (unsigned faults = 0; faults < 1u << FAULT_COUNT; faults++) {
        explain(out, "  ");
        explain_faults(out, faults);
        wrong[0] += explain_cell(out, &s, faults, true);
        wrong[1] += explain_cell(out, &s, faults, false);
    }
    explain_interplay(out, &s);
    snprintf(out->computed, sizeof out->computed, "%s: %d, %d of 8 wrong", c == NULL ? "yes" : "no",
             wrong[0], wrong[1]);
    explain(out,
            "fp32 counts as right within 64 roundoffs of sum pi |v|.  Without a tail it is\n"
            "right for all v iff the first tile's maximum is >= 0 and the maxima never fall, or\n"
            "all are equal.  See: flashulp walk fa2-printed\n");
    free(s.list);
}
