/* battery_mistakes.c: attention in double with stated mistakes, tile by tile as FlashAttention-2
   does it.  With no mistake it is attention; tests hold that to the certified result. */
#include "simulator/battery.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mistake_info mistakes[] = {
#define MISTAKE(name, tiles, sentence, ...) {name, tiles, sentence, {__VA_ARGS__}},
#include "simulator/battery.def"
#undef MISTAKE
};

const struct mistake_info *mistake_info(int n)
{
    return n < (int)(sizeof mistakes / sizeof mistakes[0]) ? &mistakes[n] : NULL;
}

struct mistake_text mistake_text(const struct mistake_info *info, const char *keys)
{
    struct mistake_text t;
    const char *place = strstr(info->sentence, "%s");
    int before = place != NULL ? (int)(place - info->sentence) : (int)strlen(info->sentence);
    snprintf(t.text, sizeof t.text, "%.*s%s%s", before, info->sentence, place != NULL ? keys : "",
             place != NULL ? place + 2 : "");
    return t;
}

static const double LOG2_E = 1.4426950408889634;

/* One query row: its keys, as far as the mistake lets them take part. */
struct row {
    const struct battery_input *in;
    const struct mistake *m;
    int64_t b, h, kv, r;
    int64_t keys;  /* that are walked: score[0..keys) */
    int64_t seen;  /* really visible ones among them */
    double *score; /* -inf: hidden */
    bool *hidden;
    double *raw; /* before the scale */
    bool leaked; /* an invisible NaN or infinity was touched */
    double m_end, l;
    double *O; /* unnormalised */
};

/* Element d of row n of head h: as the file has it, or as somebody who takes it for (B,N,H,D). */
static double element(const struct row *x, const double *values, int64_t H, int64_t N, int64_t h,
                      int64_t n, int64_t d)
{
    int64_t D = x->in->problem.D, b = x->m->batch_zero ? 0 : x->b;
    if (x->m->layout)
        return values[((b * N + n) * H + h) * D + d];
    return values[((b * H + h) * N + n) * D + d];
}

static double key_element(const struct row *x, int64_t c, int64_t d)
{
    const struct battery_input *in = x->in;
    return element(x, in->k_values, in->problem.Hkv, in->buffer, x->kv, c, d);
}

static double value_element(const struct row *x, int64_t c, int64_t d)
{
    const struct battery_input *in = x->in;
    return element(x, in->v_values, in->problem.Hkv, in->buffer, x->kv, c, d);
}

static bool visible(const struct row *x, int64_t c)
{
    const struct problem *p = &x->in->problem;
    const struct mistake *m = x->m;
    int64_t keys = m->buffer_diagonal ? x->in->buffer : p->Nk;
    int64_t at = x->r + (m->top_left ? 0 : keys - p->Nq);
    int64_t left = m->no_window ? -1 : p->mask.left, right = m->no_window ? -1 : p->mask.right;
    if (c >= p->Nk)
        return m->read_spare;
    if (p->mask.causal)
        right = m->no_causal ? -1 : 0;
    return (left < 0 || c >= at - left - m->left) && (right < 0 || c <= at + right + m->right);
}

static double scale_of(const struct row *x)
{
    int64_t D = x->in->problem.D;
    double root = sqrt((double)D);
    switch (x->m->scale) {
    case SCALE_NONE:
        return 1;
    case SCALE_TWICE:
        return 1 / root / root;
    case SCALE_D:
        return 1 / (double)D;
    case SCALE_PADDED:
        return 1 / sqrt((double)((D + 7) / 8 * 8));
    default:
        return 1 / root;
    }
}

static void score_key(struct row *x, int64_t c)
{
    const struct problem *p = &x->in->problem;
    const struct mistake *m = x->m;
    int64_t columns = m->columns == 0 ? p->D : m->columns == 1 ? p->D / 2 : m->columns;
    double dot = 0;
    for (int64_t d = 0; d < columns && d < p->D; d++) {
        double q = element(x, x->in->q_values, p->Hq, p->Nq, x->h, x->r, d);
        double k = key_element(x, c, d);
        if (m->narrow != FORMAT_EXACT) {
            q = format_round(m->narrow, q, false);
            k = format_round(m->narrow, k, false);
        }
        dot += q * k;
    }
    bool capped = p->softcap > 0 && !m->no_softcap;
    double s = dot * scale_of(x) * (m->base == BASE_E ? LOG2_E : 1);
    bool seen = visible(x, c);
    if (capped)
        s = p->softcap * tanh(s / p->softcap);
    x->raw[c] = dot;
    x->hidden[c] = !seen && m->add == 0 && !(m->late_softcap && capped);
    x->seen += seen;
    if (!seen)
        s = m->add != 0 ? s + m->add : m->late_softcap && capped ? -p->softcap : -INFINITY;
    if (!seen && m->leak)
        for (int64_t d = 0; d < p->D; d++)
            x->leaked =
                x->leaked || !isfinite(key_element(x, c, d)) || !isfinite(value_element(x, c, d));
    x->score[c] = s;
}

static void score_keys(struct row *x, int tile)
{
    const struct mistake *m = x->m;
    int64_t own = m->read_spare ? x->in->buffer : x->in->problem.Nk;
    x->keys = own > m->fewer ? own - m->fewer : 0;
    if (m->tail == TAIL_DROPPED)
        x->keys -= x->keys % tile;
    for (int64_t c = 0; c < x->keys; c++)
        score_key(x, c);
    if (m->tail != TAIL_ZERO)
        return;
    for (; x->keys % tile != 0; x->keys++) {
        x->score[x->keys] = x->raw[x->keys] = 0;
        x->hidden[x->keys] = false;
    }
}

/* e^(s - shift), as the mistake has it. */
static double weight(const struct row *x, int64_t c, double shift)
{
    double s = x->score[c];
    if (x->hidden[c])
        return 0;
    if (x->m->residual && isfinite(shift)) {
        float factor = (float)(scale_of(x) * LOG2_E);
        float bias = (float)(shift / scale_of(x)) * factor;
        return exp2((double)fmaf((float)x->raw[c], factor, -bias));
    }
    if (isinf(shift) && shift < 0 && !x->m->inf_minus_inf)
        shift = 0;
    return x->m->base == BASE_2 ? exp2(s - shift) : exp(s - shift);
}

/* The larger; a NaN goes through, unless the mistake is to drop it. */
static double larger(const struct row *x, double a, double b)
{
    if (!x->m->drop_nan && (isnan(a) || isnan(b)))
        return NAN;
    return isnan(a) ? b : isnan(b) || a > b ? a : b;
}

static void fold(struct row *x, int64_t first, int64_t end)
{
    const struct mistake *m = x->m;
    int64_t D = x->in->problem.D;
    double top = -INFINITY;
    for (int64_t c = first; c < end; c++)
        if (!x->hidden[c])
            top = larger(x, top, x->score[c]);
    double running = larger(x, x->m_end, top), decay = 1;
    if (x->m_end != running)
        decay = m->base == BASE_2 ? exp2(x->m_end - running) : exp(x->m_end - running);
    if (m->inf_minus_inf && isinf(running) && running < 0)
        decay = NAN;
    double shift = m->no_max ? 0 : m->tile_max ? top : running;
    decay = m->no_max ? 1 : m->last_tile ? 0 : decay;
    x->l *= m->keep_l ? 1 : decay;
    for (int64_t d = 0; d < D; d++)
        x->O[d] *= m->keep_O ? 1 : decay;
    for (int64_t c = first; c < end; c++) {
        double p = weight(x, c, shift);
        if (m->linear)
            p = x->hidden[c] ? 0 : x->score[c];
        if (x->hidden[c] || (m->drop_nan && isnan(p)))
            continue;
        x->l += p;
        for (int64_t d = 0; d < D; d++)
            x->O[d] += p * (c < x->in->buffer ? value_element(x, c, d) : 0);
    }
    x->m_end = running;
}

static double column_mean(const struct row *x, int64_t d)
{
    double sum = 0;
    for (int64_t c = 0; c < x->in->problem.Nk; c++)
        sum += value_element(x, c, d);
    return sum / (double)x->in->problem.Nk;
}

static double output(const struct row *x, int64_t d)
{
    const struct mistake *m = x->m;
    if (m->zero)
        return 0;
    if (x->leaked)
        return NAN;
    if (x->seen == 0 && m->tail != TAIL_ZERO)
        return m->empty == EMPTY_MEAN ? column_mean(x, d) : m->empty == EMPTY_NAN ? NAN : 0;
    if (m->linear || m->divide < 0)
        return x->O[d];
    return m->divide > 0 ? x->O[d] / x->l / x->l : x->O[d] / x->l;
}

static double log_sum(const struct row *x)
{
    const struct mistake *m = x->m;
    if (x->seen == 0 && m->tail != TAIL_ZERO)
        return m->empty == EMPTY_NAN ? NAN : m->lse == LSE_PLUS_INF ? INFINITY : -INFINITY;
    double shift = m->no_max ? 0 : x->m_end;
    if (isinf(shift) && shift < 0)
        return shift;
    switch (m->lse) {
    case LSE_BASE_2:
        return (shift + log(x->l)) * LOG2_E;
    case LSE_NO_M:
        return log(x->l);
    case LSE_NO_LOG:
        return shift + x->l;
    default:
        return shift + (m->base == BASE_2 ? log2(x->l) : log(x->l));
    }
}

static bool unwritten(const struct row *x)
{
    const struct problem *p = &x->in->problem;
    return x->m->poison || (x->m->unwritten == UNWRITTEN_HEADS && x->h > 0) ||
           (x->m->unwritten == UNWRITTEN_BATCHES && x->b > 0) ||
           (x->m->unwritten == UNWRITTEN_ROWS && x->r >= p->Nk);
}

static void run_row(struct row *x, int tile, double *O, double *lse)
{
    const struct problem *p = &x->in->problem;
    int64_t at = (x->b * p->Hq + x->h) * p->Nq + x->r;
    int64_t place = x->m->layout ? (x->b * p->Nq + x->r) * p->Hq + x->h : at;
    int64_t group = p->Hq / p->Hkv;
    x->kv = x->m->heads == HEADS_MODULO ? x->h % p->Hkv
            : x->m->heads == HEADS_ZERO ? 0
                                        : x->h / group;
    x->m_end = x->m->starts ? x->m->start : -INFINITY;
    x->l = 0;
    x->seen = 0;
    x->leaked = false;
    for (int64_t d = 0; d < p->D; d++)
        x->O[d] = 0;
    score_keys(x, tile);
    for (int64_t c = 0; c < x->keys; c += tile)
        fold(x, c, c + tile < x->keys ? c + tile : x->keys);
    for (int64_t d = 0; d < p->D; d++)
        O[place * p->D + d] = unwritten(x) ? BATTERY_POISON : output(x, d);
    lse[at] = unwritten(x) ? BATTERY_POISON : log_sum(x);
}

void mistaken(const struct battery_input *in, const struct mistake *m, int tile, double *O,
              double *lse)
{
    const struct problem *p = &in->problem;
    size_t room = (size_t)(in->buffer + tile);
    struct row x = {.in = in,
                    .m = m,
                    .score = malloc(2 * room * sizeof *x.score),
                    .hidden = malloc(room * sizeof *x.hidden),
                    .O = malloc((size_t)p->D * sizeof *x.O)};
    assert(x.score != NULL && x.hidden != NULL && x.O != NULL && tile > 0);
    x.raw = x.score + room;
    for (x.b = 0; x.b < p->B; x.b++)
        for (x.h = 0; x.h < p->Hq; x.h++)
            for (x.r = 0; x.r < p->Nq; x.r++)
                run_row(&x, tile, O, lse);
    free(x.score);
    free(x.hidden);
    free(x.O);
}
