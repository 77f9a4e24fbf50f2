/* fold_judge.c: what a tile should have done to m, l and O, and what slips would have done. */
#include "lessons/fold.h"

#include "reference/format.h"

static const double LN2 = 0.69314718055994531;

struct slip {
    bool nothing, keep_l, keep_O, inverse, twice_l, twice_O, tile_max, forget_m, old_max, no_max,
        no_l, count_l, fresh_l, fresh_O, no_O, sum_rounded, unrounded, truncated, fewer, tail,
        normal, half_normal, linear, row_zero;
    int base, base_decay;
};
static const struct {
    const char *sentence;
    struct slip slip;
} slips[] = {
#define SLIP(sentence, ...) {sentence, {__VA_ARGS__}},
#include "lessons/slips.def"
#undef SLIP
};
enum { SLIPS = sizeof slips / sizeof slips[0] };

/* One row's statistics; `size` is the scale of O's errors. */
struct row {
    double m, l, O[MAX_DIM], size;
    double slack; /* where a weight is so near a tie that either rounding is right */
};

double fold_unit(const struct fold_run *run)
{
    return run->base == 2 ? LN2 : 1;
}

static double power(int base, double x)
{
    return base == 2 ? exp2(x) : exp(x);
}

static double bf16(double x, const struct slip *slip)
{
    if (!slip->truncated)
        return format_round(FORMAT_BF16, x, false);
    double rounded = format_round(FORMAT_BF16, x, false);
    return rounded > x ? format_next(FORMAT_BF16, rounded, -1) : rounded;
}

/* The score of key c of the tile, one beyond its end being 0. */
static double score(const struct state *s, int r, int c)
{
    return c < s->keys ? (double)s->S[r][c] : 0;
}

static double tile_maximum(const struct state *s, int r, int keys)
{
    double top = -INFINITY;
    for (int c = 0; c < keys; c++)
        top = fmax(top, score(s, r, c));
    return top;
}

static double decay_of(const struct slip *slip, double m_old, double m)
{
    double a = m_old < -1e30 ? 0 : power(slip->base_decay != 0 ? 2 : slip->base, m_old - m);
    return slip->inverse && a > 0 ? 1 / a : a;
}

/* The row after the tile in `s`, which holds what was there before it. */
static struct row folded(const struct fold_run *run, const struct state *s, int r,
                         const struct slip *slip)
{
    int keys = slip->tail ? run->tile : s->keys - slip->fewer;
    double m_old = (double)s->m[slip->row_zero ? 0 : r] * fold_unit(run), l_old = (double)s->l[r];
    double top = tile_maximum(s, slip->row_zero ? 0 : r, keys), m = fmax(m_old, top);
    struct row y = {.m = slip->forget_m ? top : m};
    double a = decay_of(slip, m_old, m), shift = slip->tile_max ? top : m, sum = 0;
    bool divided = run->divided == 1, empty = m < -1e30;
    shift = slip->no_max || empty ? 0 : slip->old_max && m_old > -1e30 ? m_old : shift;
    for (int d = 0; d < s->dim; d++) {
        y.O[d] = (double)s->O[r][d] * (divided && !slip->half_normal ? l_old : 1);
        y.O[d] *= slip->fresh_O ? 0 : slip->keep_O ? 1 : slip->twice_O ? a * a : a;
    }
    for (int c = 0; c < keys; c++) {
        double p = slip->linear ? score(s, r, c) : power(slip->base, score(s, r, c) - shift);
        double narrow = run->rounds && !slip->unrounded ? bf16(p, slip) : p;
        double other =
            run->rounds ? bf16(p * (1 + 0x1p-18), slip) - bf16(p * (1 - 0x1p-18), slip) : 0;
        p = empty ? 0 : p;
        sum += slip->count_l ? 1 : slip->sum_rounded ? narrow : p;
        for (int d = 0; d < s->dim && c < s->keys && !slip->no_O && !empty; d++) {
            y.O[d] += narrow * (double)s->V[c][d];
            y.size += fabs(narrow * (double)s->V[c][d]);
            y.slack += other * fabs((double)s->V[c][d]);
        }
    }
    y.l = l_old * (slip->fresh_l   ? 0
                   : slip->keep_l  ? 1
                   : slip->twice_l ? a * a
                                   : a) +
          (slip->no_l ? 0 : sum);
    for (int d = 0; d < s->dim; d++) {
        y.size += fabs(y.O[d]);
        if ((divided || slip->normal || slip->half_normal) && y.l != 0)
            y.O[d] /= y.l;
    }
    return y;
}

static bool row_is(const struct fold_run *run, const struct state *got, int r, const struct row *y)
{
    bool same = (got->m[r] < -1e30f && y->m < -1e30) || near(got->m[r], y->m / fold_unit(run), 1);
    same = same && near(got->l[r], y->l, 0);
    for (int d = 0; d < got->dim && same && !run->loose_O; d++)
        same = near(got->O[r][d], y->O[d],
                    (y->size + y->slack * 0x1p15) / (run->divided == 1 ? fmax(y->l, 1) : 1));
    return same;
}

static bool gives(const struct fold_run *run, const struct state *before, const struct state *after,
                  const struct slip *slip)
{
    for (int r = 0; r < before->rows; r++) {
        struct row y = folded(run, before, r, slip);
        if (slip->nothing) {
            y.m = (double)before->m[r] * fold_unit(run);
            y.l = (double)before->l[r];
            for (int d = 0; d < before->dim; d++)
                y.O[d] = (double)before->O[r][d];
        }
        if (!row_is(run, after, r, &y))
            return false;
    }
    return true;
}

/* Where the two legal forms can be told apart, they are. */
void fold_settle(struct fold_run *run, const struct state *before, const struct state *after)
{
    static const struct slip none;
    for (int r = 0; r < before->rows && run->base == 0; r++) {
        double m = fmax((double)before->m[r], tile_maximum(before, r, before->keys));
        bool e = near(after->m[r], m, 0), two = near(after->m[r], m / LN2, 0);
        run->base = e && !two ? 1 : two && !e ? 2 : 0;
    }
    if (run->divided >= 0 || gives(run, before, after, &none))
        return;
    run->divided = 1; /* before the first tile O and l are 0 in both */
    if (!gives(run, before, after, &none))
        run->divided = -1;
}

/* The first number that is wrong. */
struct difference {
    struct name_text name;
    int r, d;
    float got;
    double want;
};

static bool is_first(struct difference *x, const char *field, int r, int d, float got, double want,
                     double size)
{
    if (near(got, want, size))
        return false;
    *x = (struct difference){entry_name(field, r, d), r, d < 0 ? 0 : d, got, want};
    return true;
}

static bool first_difference(const struct fold_run *run, const struct state *before,
                             const struct state *after, struct difference *x)
{
    static const struct slip none;
    for (int r = 0; r < before->rows; r++) {
        struct row y = folded(run, before, r, &none);
        if (y.m < -1e30 && after->m[r] < -1e30f)
            y.m = (double)after->m[r];
        if (is_first(x, "m", r, -1, after->m[r], y.m / fold_unit(run), 1) ||
            is_first(x, "l", r, -1, after->l[r], y.l, 0))
            return true;
        for (int d = 0; d < before->dim && !run->loose_O; d++)
            if (is_first(x, "O", r, d, after->O[r][d], y.O[d], y.size))
                return true;
    }
    return false;
}

/* Said where no slip gives it, too. */
static void describe(struct fold_run *run, const struct difference *x)
{
    differs(run->g, "%s = %.6g, want %.6g", x->name.text, (double)x->got, x->want);
    if (run->walked > 0)
        fold_see(run, x->r, x->d, run->divided == 1 ? "NORMALIZE" : "PV", run->walked);
}

bool fold_judge(struct fold_run *run, const struct state *before, const struct state *after)
{
    static const struct slip none;
    fold_settle(run, before, after);
    if (gives(run, before, after, &none))
        return true;
    if (run->g->lab->base_of != NULL && run->g->variant.base >= 0) {
        struct fold_run other = *run;
        other.base = run->base == 2 ? 1 : 2;
        if (gives(&other, before, after, &none))
            wrong(run->g, "m is in base %s; this copy asks for base %s",
                  other.base == 2 ? "2" : "e", run->base == 2 ? "2" : "e");
    }
    struct difference x;
    if (first_difference(run, before, after, &x))
        describe(run, &x);
    for (int n = 0; n < SLIPS; n++) {
        struct slip slip = slips[n].slip;
        if ((slip.sum_rounded || slip.unrounded || slip.truncated) && !run->rounds)
            continue;
        if (slip.normal && run->divided == 1)
            continue;
        if (!gives(run, before, after, &slip))
            continue;
        wrong(run->g, "%s", slips[n].sentence);
        return false;
    }
    if (first_difference(run, before, after, &x))
        expect(run->g, x.name.text, x.got, x.want, 0);
    return !failed(run->g);
}

bool fold_plain(const struct fold_run *run, const struct state *before, const struct state *after)
{
    static const struct slip none;
    return gives(run, before, after, &none);
}
