/* claims_plan.c: the claims of the FlashAttention-2 article about launches: blocks the mask skips,
   SMs that are busy, tiles that fit, and what a model says where a GPU was measured. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator/claims_parts.h"
#include "simulator/cost.h"
#include "simulator/kernels/fa2.h"
#include "simulator/scenario_parts.h"

static struct device_record card(const char *name)
{
    struct device_record d;
    struct message why;
    bool ok = device_lookup(name, &d, &why);
    assert(ok);
    (void)ok;
    return d;
}

static int64_t at_least_one(double x)
{
    return x >= 1 ? (int64_t)x : 1;
}

static struct grid square_grid(int64_t N, int64_t Br, int64_t Bc)
{
    struct attention_shape s = {1, 1, 1, N, N, 128, true};
    return grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){(int)Br, (int)Bc, 4}, 0, 0);
}

/* Lines gathered first and said after their summary. */
static void explain_after(struct claim_outcome *out, struct claim_outcome *lines)
{
    explain(out, "%s", lines->explain != NULL ? lines->explain : "");
    claim_outcome_free(lines);
}

static double skipped_share(const struct grid *g)
{
    struct cells c = grid_head(g);
    return (double)c.skipped / (double)(c.skipped + c.masked + c.plain);
}

/* Blocks that the shipped kernel masks in a row block, by its own rule. */
static int shipped_masking(int64_t N, int Br, int Bc)
{
    struct problem p = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = N, .Nk = N, .D = 128};
    p.mask = (struct mask){true, ALIGN_BOTTOM_RIGHT, -1, -1};
    struct head h = problem_head(&p, 0);
    struct attention x = {.head = &h, .choices = {.Br = Br, .Bc = Bc}};
    return fa2_blocks(&x, 0).masking;
}

void claim_a8(const struct claim_inputs *in, struct claim_outcome *out)
{
    int64_t N = at_least_one(claim_number(in, INPUT_A8_SHAPE, 0));
    int64_t tile = at_least_one(claim_number(in, INPUT_A8_SHAPE, 1));
    struct grid g = square_grid(N, tile, tile);
    double share = skipped_share(&g);
    double masked = (double)grid_head(&g).masked / (double)g.row_tiles;
    out->verdict = verdict_both(claim_figure(in, INPUT_A8_FIGURES, 0, share),
                                claim_figure(in, INPUT_A8_FIGURES, 1, masked));
    snprintf(out->computed, sizeof out->computed, "%.1f %%; %g", 100 * share, masked);
    explain(out, "%s tokens in square blocks of %" PRId64 ": n = %" PRId64 " row blocks.\n",
            grouped(N).text, tile, g.row_tiles);
    explain(out, "Of n^2 blocks (1 - 1/n)/2 are skipped, so about half needs many row blocks:\n");
    for (int64_t n = 1; n <= 64; n *= 2) {
        g = square_grid(n * tile, tile, tile);
        explain(out, "  n = %2" PRId64 "   %5.2f %% skipped, %" PRId64 " masked in all\n", n,
                100 * skipped_share(&g), grid_head(&g).masked);
    }
    explain(out,
            "One masked block a row block holds for square blocks.  FlashAttention-2's own\n"
            "128 x 64 masks %d of each row block, %d where lengths are uneven.\n",
            shipped_masking(4096, 128, 64), shipped_masking(4000, 128, 64));
}

/* One of the article's benchmark shapes: so many tokens in all, heads of a size. */
static struct attention_shape benchmark(double tokens, double N, double heads, double dim,
                                        bool causal)
{
    int64_t length = at_least_one(N), batch = at_least_one(tokens / (double)length);
    int64_t h = at_least_one(heads);
    return (struct attention_shape){batch, h, h, length, length, at_least_one(dim), causal};
}

static struct cost modelled(enum plan_kernel k, const struct attention_shape *s, const char *name)
{
    struct plan_request q = plan_request_default();
    struct device_record d = card(name);
    struct cost c;
    struct message why;
    q.kernel = k;
    q.shape = *s;
    if (!plan_cost(&q, &d, &c, &why))
        c = (struct cost){0}; /* a head size that does not ship */
    return c;
}

struct span {
    double low, high;
};

static void widen(struct span *s, double x)
{
    bool first = s->low == 0 && s->high == 0;
    s->low = first || x < s->low ? x : s->low;
    s->high = first || x > s->high ? x : s->high;
}

void claim_a8b(const struct claim_inputs *in, struct claim_outcome *out)
{
    double N[CLAIM_NUMBERS], range[2] = {0}, heads[2] = {0};
    double tokens = claim_number(in, INPUT_A8b_TOKENS, 0);
    int64_t tile = at_least_one(claim_number(in, INPUT_A8b_TILE, 0));
    int count = claim_numbers(in, INPUT_A8b_LENGTHS, N, CLAIM_NUMBERS), inside = 0;
    struct span counts = {0}, model = {0};
    struct claim_outcome lines = {0};
    claim_numbers(in, INPUT_A8b_RANGE, range, 2);
    claim_numbers(in, INPUT_A8b_HEADS, heads, 2);
    for (int i = 0; i < count; i++) {
        struct grid g = square_grid(at_least_one(N[i]), tile, tile);
        struct attention_shape whole = benchmark(tokens, N[i], heads[1], heads[0], false);
        struct attention_shape half = benchmark(tokens, N[i], heads[1], heads[0], true);
        struct cost a = modelled(PLAN_KERNEL_FA2, &whole, "A100");
        struct cost b = modelled(PLAN_KERNEL_FA2, &half, "A100");
        double by_count = 1 / (1 - skipped_share(&g)), least = a.seconds_least / b.seconds_least;
        double most = a.seconds_most / b.seconds_most;
        inside += by_count >= range[0] && by_count <= range[1];
        widen(&counts, by_count);
        widen(&model, least);
        widen(&model, most);
        explain(&lines,
                "  N %6s  n = %3" PRId64 "  counts %.2f   A100 model %.2f (all overlaps), %.2f\n",
                grouped((int64_t)N[i]).text, g.row_tiles, by_count, least, most);
    }
    out->verdict = inside == count ? VERDICT_HOLDS : VERDICT_PARTLY;
    snprintf(out->computed, sizeof out->computed, "counts %.2f-%.2f; model %.2f-%.2f", counts.low,
             counts.high, model.low, model.high);
    explain(out,
            "Counts alone give 2n/(n+1) with n row blocks of %" PRId64 ": inside\n%g to %g "
            "at %d of %d lengths.  That range was measured; no GPU was asked here.\n",
            tile, range[0], range[1], inside, count);
    explain_after(out, &lines);
}

void claim_a9(const struct claim_inputs *in, struct claim_outcome *out)
{
    double l[5] = {0}, sms = claim_number(in, INPUT_A9_SMS, 0);
    double nearly = claim_number(in, INPUT_A9_NEARLY, 0);
    double full = claim_number(in, INPUT_A9_NEARLY, 1);
    claim_numbers(in, INPUT_A9_LAUNCH, l, 5);
    int64_t heads = at_least_one(l[1]);
    struct attention_shape s = {
        at_least_one(l[0]), heads, heads, at_least_one(l[2]), at_least_one(l[2]),
        at_least_one(l[3]), false};
    struct tiling tile = {(int)at_least_one(l[4]), (int)at_least_one(l[4]), 4};
    struct machine m = {(int)at_least_one(sms), 1, 1, 1, 0};
    struct grid by_head = grid_of(PLAN_KERNEL_FA1, &s, tile, 0, 0);
    struct grid by_row = grid_of(PLAN_KERNEL_FA2, &s, tile, 0, 0);
    struct schedule a, b;
    schedule_run(&by_head, &m, NULL, NULL, &a);
    schedule_run(&by_row, &m, NULL, NULL, &b);
    const double figures[] = {100.0 * a.busy_sms / m.sms, m.sms - a.busy_sms,
                              (double)by_row.per_head, (double)by_row.blocks};
    out->verdict = claim_figure(in, INPUT_A9_FIGURES, 0, figures[0]);
    for (int i = 1; i < 4; i++)
        out->verdict =
            verdict_both(out->verdict, claim_figure(in, INPUT_A9_FIGURES, i, figures[i]));
    out->verdict = verdict_both(out->verdict, verdict_of(100 * nearly / m.sms >= full));
    snprintf(out->computed, sizeof out->computed, "%.1f %%, %s", figures[0],
             grouped(by_row.blocks).text);
    explain(out,
            "A block a head: %" PRId64 " blocks on %d SMs, %.1f %%, %d idle (published %g, %g).\n",
            by_head.blocks, m.sms, figures[0], m.sms - a.busy_sms,
            claim_number(in, INPUT_A9_FIGURES, 0), claim_number(in, INPUT_A9_FIGURES, 1));
    explain(out,
            "A block a row block: %" PRId64 " a head, %s in all: %.2f waves at one an SM, "
            "%" PRId64 " launched, %.1f %% full.\n",
            by_row.per_head, grouped(by_row.blocks).text, b.waves, b.launched, 100 * b.full);
    explain(out,
            "\"About %g blocks nearly fill it\": %g / %d = %.0f %%; here %g %% is called "
            "nearly full.\n",
            nearly, nearly, m.sms, 100 * nearly / m.sms, full);
}

/* --- A18 */

/* Standard attention, three kernels: S = Q K^T, P = softmax(S), O = P V; S and P in 16 bits, each
   written once and read once.  Seconds: each kernel's products and memory overlap, or do not. */
static struct span three_passes(const struct attention_shape *s, const struct device_record *d)
{
    const double *f = d->figure, element = 2, tera = 1e12, giga = 1e9;
    double heads = (double)s->batch * (double)s->heads_q, N = (double)s->len_k;
    double flops = 2 * heads * N * N * (double)s->dim / (f[QUANTITY_BF16] * tera);
    double scores = element * heads * N * N / (f[QUANTITY_BANDWIDTH] * giga);
    double tensor = element * heads * N * (double)s->dim / (f[QUANTITY_BANDWIDTH] * giga);
    double memory[] = {2 * tensor + scores, 2 * scores, scores + 2 * tensor};
    return (struct span){2 * fmax(flops, memory[0]) + memory[1],
                         2 * flops + memory[0] + memory[1] + memory[2]};
}

struct comparison {
    struct span fa1, standard;
};

static void compare_at(struct comparison *c, const struct attention_shape *s,
                       struct claim_outcome *out)
{
    struct device_record a100 = card("A100");
    struct cost fa2 = modelled(PLAN_KERNEL_FA2, s, "A100");
    struct cost fa1 = modelled(PLAN_KERNEL_FA1, s, "A100");
    struct span passes = three_passes(s, &a100);
    double by_fa1[] = {fa1.seconds_least / fa2.seconds_least, fa1.seconds_most / fa2.seconds_most};
    double by_passes[] = {passes.low / fa2.seconds_least, passes.high / fa2.seconds_most};
    for (int i = 0; i < 2; i++) {
        widen(&c->fa1, by_fa1[i]);
        widen(&c->standard, by_passes[i]);
    }
    explain(out, "  %6s    %5.2f (all overlaps) %5.2f     %5.2f %5.2f\n", grouped(s->len_k).text,
            by_fa1[0], by_fa1[1], by_passes[0], by_passes[1]);
}

void claim_a18(const struct claim_inputs *in, struct claim_outcome *out)
{
    double N[CLAIM_NUMBERS], heads[2] = {0}, tokens = claim_number(in, INPUT_A18_TOKENS, 0);
    double fa1[2] = {0}, torch[2] = {0}, measured = claim_number(in, INPUT_A18_H100, 0);
    int count = claim_numbers(in, INPUT_A18_LENGTHS, N, CLAIM_NUMBERS);
    struct comparison c;
    struct claim_outcome lines = {0};
    memset(&c, 0, sizeof c);
    claim_numbers(in, INPUT_A18_HEADS, heads, 2);
    claim_numbers(in, INPUT_A18_FA1, fa1, 2);
    claim_numbers(in, INPUT_A18_PYTORCH, torch, 2);
    struct attention_shape s = {0};
    for (int i = 0; i < count; i++) {
        s = benchmark(tokens, N[i], heads[1], heads[0], false);
        compare_at(&c, &s, &lines);
    }
    struct cost h = modelled(PLAN_KERNEL_FA2, &s, "H100-SXM");
    const double tera = 1e12;
    double low = h.useful / h.seconds_most / tera, high = h.useful / h.seconds_least / tera;
    out->verdict = VERDICT_NO_GPU;
    snprintf(out->computed, sizeof out->computed, "model %.1f-%.1f; %.1f-%.0f; %.0f-%.0f",
             c.fa1.low, c.fa1.high, c.standard.low, c.standard.high, low, high);
    explain(out, "Measured: %g to %g over FA1, %g to %g over PyTorch; modelled on A100, forward:\n",
            fa1[0], fa1[1], torch[0], torch[1]);
    explain(out, "  length    over FA1                    over three passes\n");
    explain_after(out, &lines);
    explain(out,
            "H100: %.0f TFLOP/s if nothing overlaps, %.0f if everything does; measured %g, %s.\n",
            low, high, measured, measured >= low && measured <= high ? "between" : "not between");
    explain(out,
            "Triton's kernel does the same operations: a model of counts cannot tell it apart\n"
            "(published %g to %g).  The model of FA1 is its paper's: a block a head.\n",
            claim_number(in, INPUT_A18_TRITON, 0), claim_number(in, INPUT_A18_TRITON, 1));
}

/* --- A20 */

static bool among(const double *sizes, int count, int x)
{
    for (int i = 0; i < count; i++)
        if (sizes[i] == x)
            return true;
    return false;
}

/* Says what becomes of the tile with more rows and keys; does it fit? */
static bool larger_fits(struct tiling t, int rows, int keys, int64_t dim, struct claim_outcome *out)
{
    static const char *const words[] = {"fits", "may spill", "spills", "too big"};
    struct plan_request q = plan_request_default();
    struct tiling larger = {rows * t.Br, keys * t.Bc, t.warps};
    struct occupancy o = occupancy(ARCHITECTURE_SM80, PLAN_KERNEL_FA2, larger, dim,
                                   (int)q.assume[ASSUMPTION_REGISTERS]);
    explain(out, "; %d x %d %s", larger.Br, larger.Bc, words[o.verdict]);
    return o.verdict == TILE_FITS;
}

void claim_a20(const struct claim_inputs *in, struct claim_outcome *out)
{
    double dim[CLAIM_NUMBERS], size[CLAIM_NUMBERS];
    int dims = claim_numbers(in, INPUT_A20_DIMS, dim, CLAIM_NUMBERS);
    int sizes = claim_numbers(in, INPUT_A20_SIZES, size, CLAIM_NUMBERS);
    int chosen = 0, shipped = 0, fitting = 0, once = 0;
    struct claim_outcome lines = {0};
    for (int i = 0; i < dims; i++) {
        struct attention_shape s = {1, 1, 1, 4096, 4096, at_least_one(dim[i]), false};
        struct tiling t;
        struct message why;
        if (!shipped_tile(PLAN_KERNEL_FA2, ARCHITECTURE_SM80, &s, &t, &why))
            continue;
        shipped++;
        chosen += among(size, sizes, t.Br) && among(size, sizes, t.Bc);
        explain(&lines, "  d %3" PRId64 "  %d x %d", s.dim, t.Br, t.Bc);
        once += larger_fits(t, 2, 1, s.dim, &lines);
        once += larger_fits(t, 1, 2, s.dim, &lines);
        fitting += larger_fits(t, 2, 2, s.dim, &lines);
        explain(&lines, "\n");
    }
    out->verdict = verdict_of(shipped == dims && chosen == dims && fitting == 0);
    snprintf(out->computed, sizeof out->computed, "%d of %d; %d of %d larger fit", chosen, dims,
             fitting, dims);
    explain(out, "On A100 %d of %d head sizes ship such a tile; doubled both ways %d fit.\n",
            chosen, dims, fitting);
    explain_after(out, &lines);
    explain(out,
            "Spills: accumulators alone need more than a thread's %d registers.  Doubled one way\n"
            "%d of %d would fit: the choice is by hand, not by what fits.\n",
            REGISTERS_PER_THREAD, once, 2 * shipped);
}
