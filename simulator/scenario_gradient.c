/* scenario_gradient.c: see scenario_gradient.h. */
#include "simulator/scenario_gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/gradient.h"
#include "simulator/scenario_parts.h"
#include "simulator/simulate_parts.h"

static bool open_gradient(const struct scenario_input *in, struct tensor *t, struct message *why)
{
    const struct problem *p = &in->problem;
    enum format f = in->input_format;
    f = f == FORMAT_EXACT ? FORMAT_FP64 : f == FORMAT_FP32_FTZ || f == FORMAT_TF32 ? FORMAT_FP32 : f;
    return tensor_new(t, f, TENSOR_MAX_RANK, (int64_t[]){p->B, p->Hq, p->Nq, p->D}, why);
}

/* About normal: twelve uniform numbers of 53 bits (splitmix64), less six. */
static double draw_normal(uint64_t *state)
{
    double sum = -6;
    for (int n = 0; n < 12; n++) {
        uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        sum += ldexp((double)((z ^ z >> 31) >> 11), -53);
    }
    return sum;
}

/* The file's tensor as (B, Hq, Nq, D), a view. */
static bool as_output(const struct scenario *s, const struct problem *p, const struct tensor *file,
                      struct tensor *view, struct message *why)
{
    const int64_t want[TENSOR_MAX_RANK] = {p->B, p->Hq, p->Nq, p->D};
    const char *layout = s->value[OPTION_LAYOUT];
    *view = *file;
    view->owns_data = false;
    view->rank = TENSOR_MAX_RANK;
    int missing = TENSOR_MAX_RANK - file->rank;
    for (int i = 0; i < TENSOR_MAX_RANK; i++) {
        view->shape[i] = i < missing ? 1 : file->shape[i - missing];
        view->stride[i] = i < missing ? 0 : file->stride[i - missing];
    }
    if (layout != NULL && strcmp(layout, "bnhd") == 0 && file->rank > 2) {
        int64_t shape = view->shape[1], stride = view->stride[1];
        view->shape[1] = view->shape[2];
        view->stride[1] = view->stride[2];
        view->shape[2] = shape;
        view->stride[2] = stride;
    }
    for (int i = 0; i < TENSOR_MAX_RANK; i++)
        if (view->shape[i] != want[i])
            return refuse(why, "--do %.200s: its shape is %s, O's is %s%s", s->value[OPTION_DO],
                          shape_text(file->rank, file->shape).text,
                          shape_text(TENSOR_MAX_RANK, want).text,
                          file->rank > 2 ? "; --layout says bhnd or bnhd" : "");
    return true;
}

/* dO from a view, or where it is NULL from *state, or ones; returns how many numbers changed. */
static int64_t take_numbers(const struct scenario_input *in, struct tensor *dO,
                            const struct tensor *view, uint64_t *state)
{
    int64_t changed = 0;
    enum format f = in->input_format == FORMAT_EXACT ? FORMAT_FP64 : in->input_format;
    for (int64_t b = 0; b < dO->shape[0]; b++)
        for (int64_t h = 0; h < dO->shape[1]; h++)
            for (int64_t n = 0; n < dO->shape[2]; n++)
                for (int64_t d = 0; d < dO->shape[3]; d++) {
                    double x = view != NULL    ? tensor_get(view, b, h, n, d)
                               : state != NULL ? draw_normal(state)
                                               : 1;
                    double rounded = format_round(f, x, false);
                    changed += view != NULL && !isnan(x) && rounded != x;
                    tensor_set(dO, b, h, n, d, rounded);
                }
    return changed;
}

static bool read_file(const struct scenario *s, const struct scenario_input *in,
                      struct output_gradient *g, struct message *why)
{
    struct tensor file, view;
    struct message took;
    enum format words = in->input_format == FORMAT_FP16 ? FORMAT_FP16 : FORMAT_BF16;
    if (!tensor_read_npy(s->value[OPTION_DO], words, &file, &took, why))
        return false;
    bool ok = as_output(s, &in->problem, &file, &view, why);
    if (ok) {
        int64_t changed = take_numbers(in, &g->dO, &view, NULL);
        if (took.text[0] != 0)
            text_append(&g->remark, "%s: %s\n", s->value[OPTION_DO], took.text);
        if (changed > 0)
            text_append(&g->remark, "%s of %s numbers of dO were rounded to %s at INPUT\n",
                        grouped(changed).text, grouped(tensor_elements(&g->dO)).text,
                        format_info(in->input_format)->name);
    }
    tensor_free(&file);
    return ok;
}

bool scenario_output_gradient(const struct scenario *s, const struct scenario_input *in,
                              struct output_gradient *g, struct message *why)
{
    const char *text = s->value[OPTION_DO];
    bool random = strncmp(text, "random:", 7) == 0, ones = strcmp(text, "ones") == 0;
    int64_t seed = 0;
    *g = (struct output_gradient){0};
    if (!random && !ones && strpbrk(text, "./") == NULL)
        return refuse(why, "--do %.60s: ones, random:SEED or FILE.npy is right", text);
    if (random && !parse_integer("--do random:", text + 7, 0, INT64_MAX, &seed, why))
        return false;
    if (!open_gradient(in, &g->dO, why))
        return false;
    uint64_t state = (uint64_t)seed;
    bool ok = true;
    if (random || ones)
        take_numbers(in, &g->dO, NULL, random ? &state : NULL);
    else
        ok = read_file(s, in, g, why);
    if (ok && g->remark == NULL)
        text_append(&g->remark, "%s", "");
    if (!ok)
        output_gradient_free(g);
    return ok;
}

void output_gradient_free(struct output_gradient *g)
{
    tensor_free(&g->dO);
    free(g->remark);
    *g = (struct output_gradient){0};
}

/* "H100-SXM", or a number of SMs: one copy for each thread block a head gets. */
static bool read_copies(const struct scenario *s, const struct problem *p, struct choices *c,
                        struct message *why)
{
    const char *text = s->value[OPTION_DETERMINISTIC];
    struct device_record d;
    int64_t sms, heads = p->B * p->Hq;
    if (p->cu_q != NULL)
        heads = p->sequences * p->Hq;
    if (strspn(text, "0123456789") == strlen(text)) {
        if (!parse_integer("--deterministic", text, 1, 1 << 20, &sms, why))
            return false;
    } else {
        if (!device_lookup(text, &d, why))
            return false;
        sms = (int64_t)d.figure[QUANTITY_SMS];
        if (sms < 1)
            return refuse(why, "device %s: how many SMs it has is not established", d.name);
    }
    c->dq_copies = heads > 0 ? (int)((sms + heads - 1) / heads) : 1;
    return true;
}

bool scenario_dq(const struct scenario *s, const struct problem *p, struct simulation *simulation,
                 struct message *why)
{
    struct choices *c = &simulation->choices;
    const char *seed = s->value[OPTION_ATOMIC_SEED];
    bool copies = s->given[OPTION_DETERMINISTIC], arrivals = s->given[OPTION_ARRIVALS];
    int64_t number;
    if ((seed != NULL) + copies + arrivals > 1)
        return refuse(why, "%s and %s: one is right", seed != NULL ? "--atomic-seed" : "--arrivals",
                      copies ? "--deterministic" : "--arrivals");
    if (seed != NULL) {
        if (!parse_integer("--atomic-seed", seed, 0, INT64_MAX, &number, why))
            return false;
        c->dq_seed = (uint64_t)number;
    }
    c->dq_drawn = seed != NULL || arrivals;
    if (copies && !read_copies(s, p, c, why))
        return false;
    /* copies x Nq x D numbers in memory; a drawn order has a copy for each key tile */
    struct head h = {.problem = p, .Nq = p->Nq, .Nk = p->Nk, .D = p->D};
    struct attention x = {.head = &h, .choices = backward_choices(simulation, &h)};
    int64_t count = c->dq_drawn ? key_tiles(&x) : c->dq_copies > 0 ? c->dq_copies : 1;
    if ((double)count * (double)(p->Nq + x.choices.Br) * (double)p->D > 0x1p30)
        return refuse(why, "%s copies of dQ hold more than 2^30 numbers; larger key tiles (--tile), "
                           "or no order of arrival, are right", grouped(count).text);
    return true;
}

bool scenario_without_gradient(const struct scenario *s, struct message *why)
{
    static const enum option needs[] = {OPTION_DQ, OPTION_DK, OPTION_DV, OPTION_ATOMIC_SEED,
                                        OPTION_ARRIVALS, OPTION_DETERMINISTIC};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (s->given[needs[i]])
            return refuse(why, "%s goes with --do FILE.npy, --do ones or --do random:SEED",
                          option_info(needs[i])->name);
    return true;
}

bool scenario_with_gradient(const struct scenario *s, struct message *why)
{
    static const enum option without[] = {OPTION_OUT,  OPTION_LSE,  OPTION_BATCH,  OPTION_HEADS,
                                          OPTION_ROWS, OPTION_DIMS, OPTION_SAMPLE, OPTION_SAMPLE_SEED};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (s->given[without[i]])
            return refuse(why, "%s goes without --do, which is about every gradient",
                          option_info(without[i])->name);
    return true;
}

static bool watch_backward(const struct scenario *s, const struct scenario_input *in,
                           struct simulation *simulation, const struct output_gradient *given,
                           struct message *why)
{
    struct gradients g;
    if (!scenario_dq(s, &in->problem, simulation, why) ||
        !simulate_gradients(&in->problem, &given->dO, simulation, &g, why))
        return false;
    gradients_free(&g);
    return true;
}

bool scenario_watch(const struct scenario *s, const struct scenario_input *in,
                    struct simulation *simulation, struct output_gradient *g, struct message *why)
{
    struct result result;
    *g = (struct output_gradient){0};
    if (!s->given[OPTION_DO]) {
        if (!scenario_without_gradient(s, why) || !simulate(&in->problem, simulation, &result, why))
            return false;
        result_free(&result);
        return true;
    }
    if (!scenario_output_gradient(s, in, g, why))
        return false;
    bool ok = watch_backward(s, in, simulation, g, why);
    if (!ok)
        output_gradient_free(g);
    return ok;
}
