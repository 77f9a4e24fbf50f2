/* claims_a.c: the claims of the FlashAttention-2 article that are arithmetic on published
   figures. */
#include <math.h>
#include <stdio.h>

#include "simulator/claims_parts.h"
#include "simulator/cost.h"
#include "simulator/devices.h"
#include "simulator/scenario_parts.h"

static double in_percent(double x)
{
    return 100 * x;
}

void claim_a1(const struct claim_inputs *in, struct claim_outcome *out)
{
    double matmul = claim_number(in, INPUT_A1_MATMUL, 0),
           other = claim_number(in, INPUT_A1_OTHER, 0);
    bool known = matmul == device_figure(DEVICE_A100, QUANTITY_BF16, NULL) &&
                 other == device_figure(DEVICE_A100, QUANTITY_FP32, NULL);
    snprintf(out->computed, sizeof out->computed, "%.4gx", matmul / other);
    out->verdict = claim_figure(in, INPUT_A1_COST, 0, matmul / other);
    explain(out, "%.5g / %.5g = %.5g: in the time of one other FLOP so many of a matmul.\n", matmul,
            other, matmul / other);
    explain(out, "The device table %s these two figures for A100.\n",
            known ? "has" : "does not have");
}

/* Time unit: all FLOPs at matmul speed. */
void claim_a2(const struct claim_inputs *in, struct claim_outcome *out)
{
    double share[2] = {0}, cost = claim_number(in, INPUT_A2_COST, 0);
    claim_numbers(in, INPUT_A2_SHARES, share, 2);
    double time = (share[0] + share[1] * cost) / 100;
    double part = share[1] * cost / time;
    snprintf(out->computed, sizeof out->computed, "%.4g, %.1f %%", time, part);
    out->verdict = verdict_both(claim_figure(in, INPUT_A2_FIGURES, 0, time),
                                claim_figure(in, INPUT_A2_FIGURES, 1, part));
    explain(out, "(%g + %g x %g) / 100 = %.5g units of time.\n", share[0], share[1], cost, time);
    explain(out, "The other FLOPs take %g x %g / 100 = %.5g of them: %.4f %%.\n", share[1], cost,
            share[1] * cost / 100, part);
}

/* The formula's factor is counted over the calls of a small run: 2 products of 2 N^2 d each. */
static double counted_factor(double forward_products, int *products)
{
    enum { N = 8, D = 4 };
    struct problem p = drawn_problem(1, N, N, D);
    struct simulation s = policy_run(ALGORITHM_FA2, POLICY_FP32, N);
    struct counts c = claim_counts(&p, &s);
    problem_free(&p);
    *products = (int)c.products;
    return (double)c.flops / (N * N * D) * forward_products / (double)c.products;
}

void claim_a10(const struct claim_inputs *in, struct claim_outcome *out)
{
    double shape[3] = {0}, product[2] = {0}, speed = claim_number(in, INPUT_A10_SPEED, 0);
    int products;
    claim_numbers(in, INPUT_A10_SHAPE, shape, 3);
    claim_numbers(in, INPUT_A10_PRODUCTS, product, 2);
    double factor = counted_factor(product[0], &products);
    double flops = factor * shape[0] * shape[0] * shape[1] * shape[2];
    double ms = flops / (speed * 1e12) * 1e3, backward = product[1] / product[0];
    enum verdict_word v = verdict_both(claim_figure(in, INPUT_A10_FIGURES, 0, flops),
                                       claim_figure(in, INPUT_A10_FIGURES, 1, ms));
    v = verdict_both(v, claim_figure(in, INPUT_A10_FIGURES, 2, backward));
    out->verdict = verdict_both(v, claim_figure(in, INPUT_A10_FORMULA, 0, factor));
    snprintf(out->computed, sizeof out->computed, "%.4ge10, %.4f, %.3gx", flops / 1e10, ms,
             backward);
    explain(out, "%g N^2 d heads = %s FLOPs for one sequence, causal half of it,\n", factor,
            grouped((int64_t)flops).text);
    explain(out, "%.4f ms at %g TFLOP/s.  The factor is counted: fa2 makes %d products\n", ms,
            speed, products);
    explain(out, "a tile, each of 2 FLOPs per multiplication.  Backward: %g / %g = %.3g times.\n",
            product[1], product[0], backward);
}

/* Per cent of peak of forward and backward together: FLOPs 1 and b, times 1 / f and b / g. */
static double overall(double forward, double backward, double ratio)
{
    return (1 + ratio) / (1 / forward + ratio / backward);
}

static void explain_a11(const struct claim_inputs *in, struct claim_outcome *out)
{
    double b = claim_number(in, INPUT_A11_BACKWARD, 0), peak = claim_number(in, INPUT_A11_PEAK, 0);
    double from = claim_number(in, INPUT_A11_FIGURES, 0), best[2] = {0};
    double measured = claim_number(in, INPUT_A11_MEASURED, 0);
    claim_numbers(in, INPUT_A11_FA2_BEST, best, 2);
    explain(out, "%g / %g would need %g by truncation, or %.1f to %.1f TFLOP/s called %g.\n",
            measured, peak, from, (from - 0.5) * peak / 100, (from + 0.5) * peak / 100, measured);
    explain(out, "FA2 at %g forward with %g backward is %.1f overall: %g is forward only.\n",
            best[0], best[1], overall(best[0], best[1], b), best[0]);
}

void claim_a11(const struct claim_inputs *in, struct claim_outcome *out)
{
    double peak = claim_number(in, INPUT_A11_PEAK, 0), b = claim_number(in, INPUT_A11_BACKWARD, 0);
    double measured[2] = {0}, f[2] = {0}, g[2] = {0}, range[2] = {0};
    claim_numbers(in, INPUT_A11_MEASURED, measured, 2);
    claim_numbers(in, INPUT_A11_FA1_FORWARD, f, 2);
    claim_numbers(in, INPUT_A11_FA1_BACKWARD, g, 2);
    claim_numbers(in, INPUT_A11_FA1_OVERALL, range, 2);
    double kernel = in_percent(measured[0] / peak), training = in_percent(measured[1] / peak);
    double low = overall(f[0], g[0], b), high = overall(f[1], g[1], b);
    enum verdict_word v = verdict_both(claim_figure(in, INPUT_A11_FIGURES, 0, kernel),
                                       claim_figure(in, INPUT_A11_FIGURES, 1, training));
    out->verdict = verdict_both(v, verdict_of(range[0] <= low && high <= range[1]));
    snprintf(out->computed, sizeof out->computed, "%.1f, %.1f, %.0f-%.0f", kernel, training, low,
             high);
    explain(out, "%g / %g = %.2f %%, so %.0f, not %g; %g / %g = %.2f %%, so %.0f.\n", measured[0],
            peak, kernel, kernel, claim_number(in, INPUT_A11_FIGURES, 0), measured[1], peak,
            training, training);
    explain_a11(in, out);
    explain(out, "FA1: forward %g-%g, backward %g-%g give %.1f-%.1f overall, inside %g-%g: %s.\n",
            f[0], f[1], g[0], g[1], low, high, range[0], range[1],
            range[0] <= low && high <= range[1] ? "yes" : "no");
}

void claim_a12(const struct claim_inputs *in, struct claim_outcome *out)
{
    double length[CLAIM_NUMBERS], heads[4] = {0}, tokens = claim_number(in, INPUT_A12_TOKENS, 0);
    double hidden = claim_number(in, INPUT_A12_HIDDEN, 0);
    int count = claim_numbers(in, INPUT_A12_LENGTHS, length, CLAIM_NUMBERS), whole = 0;
    claim_numbers(in, INPUT_A12_HEADS, heads, 4);
    for (int i = 0; i < count; i++)
        whole += fmod(tokens, length[i]) == 0;
    double first = heads[0] * heads[1], second = heads[2] * heads[3];
    out->verdict = verdict_of(whole == count && first == hidden && second == hidden);
    snprintf(out->computed, sizeof out->computed, "%d of %d, %.0f, %.0f", whole, count, first,
             second);
    explain(out, "%s tokens are whole batches for %d of %d lengths:\n",
            grouped((int64_t)tokens).text, whole, count);
    for (int i = 0; i < count; i++)
        explain(out, "  %g x %s%s", tokens / length[i], grouped((int64_t)length[i]).text,
                i == count - 1 ? "\n"
                : i % 6 == 5   ? "\n"
                               : "");
    explain(out, "hidden %g: %g x %g = %g and %g x %g = %g.\n", hidden, heads[0], heads[1], first,
            heads[2], heads[3], second);
}

/* FLOPs of a token; model: parameters, layers, hidden size. */
static double per_token(const double *model, double factor, double N)
{
    return training_flops(model[0], model[1], model[2], N, factor);
}

void claim_a13(const struct claim_inputs *in, struct claim_outcome *out)
{
    double pass[3] = {0}, model[4] = {0}, speed[2] = {0};
    double forward = claim_number(in, INPUT_A13_FORWARD, 0);
    claim_numbers(in, INPUT_A13_PASSES, pass, 3);
    claim_numbers(in, INPUT_A13_MODEL, model, 4);
    claim_numbers(in, INPUT_A13_SPEED, speed, 2);
    double recomputed = forward * (pass[0] + pass[1]) / pass[0];
    double plain = forward * (pass[0] + pass[2]) / pass[0];
    double used = in_percent(speed[0] / speed[1]);
    double halved =
        used * per_token(model, plain / 2, model[3]) / per_token(model, plain, model[3]);
    out->verdict = verdict_both(claim_figure(in, INPUT_A13_FACTOR, 0, plain),
                                claim_figure(in, INPUT_A13_FIGURE, 0, used));
    snprintf(out->computed, sizeof out->computed, "%g, %.1f %%; halved %.0f %%", plain, used,
             halved);
    explain(out,
            "6 N params + %g layers hidden N^2, not halved for causal; %.1f %% becomes %.1f.\n",
            plain, used, halved);
    explain(out, "Forward %g; with backward's %g products without recomputation %g x %g = %g,\n",
            forward, pass[2], forward, (pass[0] + pass[2]) / pass[0], plain);
    explain(out, "with S computed again (%g products, as A10 counts) %g x %g = %g.\n", pass[1],
            forward, (pass[0] + pass[1]) / pass[0], recomputed);
    explain(out, "%.3g parameters, %g layers, hidden %g, N %g: %.4g FLOPs a sequence,\n", model[0],
            model[1], model[2], model[3], model[3] * per_token(model, plain, model[3]));
    explain(out, "%.4g with the attention half of it: %.1f %% of peak becomes %.1f %%.\n",
            model[3] * per_token(model, plain / 2, model[3]), used, halved);
}

void claim_a17(const struct claim_inputs *in, struct claim_outcome *out)
{
    double N[2] = {0}, model[6] = {0}, faster = claim_number(in, INPUT_A17_FASTER, 0);
    double factor = claim_number(in, INPUT_A17_FACTOR, 0);
    claim_numbers(in, INPUT_A17_LENGTHS, N, 2);
    int models = claim_numbers(in, INPUT_A17_MODELS, model, 6) / 3;
    double cost = N[1] / faster / N[0];
    out->verdict = claim_figure(in, INPUT_A17_FIGURE, 0, cost);
    snprintf(out->computed, sizeof out->computed, "%.3f a token", cost);
    explain(out, "Attention per token grows as N: (%g / %g) / %g = %.3f for as many tokens,\n",
            N[1], faster, N[0], cost);
    explain(out, "%.3f for one sequence, which has %g times the tokens.\n", cost * N[1] / N[0],
            N[1] / N[0]);
    for (int i = 0; i < models; i++) {
        double before = per_token(&model[3 * i], factor, N[0]);
        double same = per_token(&model[3 * i], factor, N[1]) / before;
        double now = per_token(&model[3 * i], factor / faster, N[1]) / before;
        explain(out, "Whole model, %.3g parameters: %.2f at the old speed, %.3f at the new one.\n",
                model[3 * i], same, now);
    }
}

void claim_a22(const struct claim_inputs *in, struct claim_outcome *out)
{
    double column[3][4] = {{0}}, most[2] = {0};
    int at[2] = {0};
    claim_numbers(in, INPUT_A22_NONE, column[0], 4);
    claim_numbers(in, INPUT_A22_FA1, column[1], 4);
    int rows = claim_numbers(in, INPUT_A22_FA2, column[2], 4);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < rows; i++)
            if (column[2][i] / column[c][i] > most[c]) {
                most[c] = column[2][i] / column[c][i];
                at[c] = i;
            }
    enum verdict_word none = claim_figure(in, INPUT_A22_FIGURES, 0, most[0]);
    enum verdict_word fa1 = claim_figure(in, INPUT_A22_FIGURES, 1, most[1]);
    out->verdict = none == VERDICT_FAILS ? VERDICT_FAILS : verdict_both(none, fa1);
    snprintf(out->computed, sizeof out->computed, "%.2fx, %.2fx", most[0], most[1]);
    explain(out, "Its own table has %g / %g = %.2fx over none; \"up to %gx\" is too low.\n",
            column[2][at[0]], column[0][at[0]], most[0], claim_number(in, INPUT_A22_FIGURES, 0));
    for (int i = 0; i < rows; i++)
        explain(out, "  row %d: %g / %g = %.2fx over none, %g / %g = %.2fx over FA1\n", i + 1,
                column[2][i], column[0][i], column[2][i] / column[0][i], column[2][i], column[1][i],
                column[2][i] / column[1][i]);
    explain(out, "Over FA1 at most %.2fx: %s.\n", most[1], verdict_name(fa1));
}
