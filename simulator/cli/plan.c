/* plan.c: `flashulp plan`: what a launch occupies, computes and moves: the request. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/plan.h"
#include "simulator/scenario_parts.h"

enum { MOST = 1 << 20, LONGEST = 1 << 24 };

static const struct plan_example {
    const char *name;
    enum plan_kernel kernel;
    struct attention_shape shape;
} examples[] = {
#define PLAN_EXAMPLE(name, kernel, batch, heads_q, heads_kv, tokens, dim, causal, meaning)         \
    {name, PLAN_KERNEL_##kernel, {batch, heads_q, heads_kv, tokens, tokens, dim, causal}},
#include "simulator/plan.def"
#undef PLAN_EXAMPLE
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static bool number(const struct scenario *s, enum option o, int64_t most, int64_t *x,
                   struct message *why)
{
    return s->value[o] == NULL || parse_integer(option_info(o)->name, s->value[o], 1, most, x, why);
}

static bool read_example(struct plan_page *page, const char *name, struct message *why)
{
    const char *names[EXAMPLES];
    for (int e = 0; e < EXAMPLES; e++) {
        names[e] = examples[e].name;
        if (strcmp(names[e], name) != 0)
            continue;
        page->example = names[e];
        page->request.kernel = examples[e].kernel;
        page->request.shape = examples[e].shape;
        return true;
    }
    const char *near = nearest_name(name, names, EXAMPLES);
    if (near != NULL)
        return refuse(why, "no launch is named \"%.40s\"; did you mean %s?", name, near);
    return refuse(why, "no launch is named \"%.40s\"; flashulp list launches", name);
}

/* --shape B,Hq,Hkv,Nq,Nk,D */
static bool read_whole_shape(struct attention_shape *a, const struct scenario *s,
                             struct message *why)
{
    static const enum option parts[] = {OPTION_LAUNCH_BATCH, OPTION_HEADS_Q, OPTION_HEADS_KV,
                                        OPTION_PLAN_LEN_Q,   OPTION_LEN,     OPTION_DIM};
    int64_t x[6];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (s->given[parts[i]])
            return refuse(why, "--shape says all sizes; %s does not go with it",
                          option_info(parts[i])->name);
    if (!parse_integers("--shape", s->value[OPTION_PLAN_SHAPE], "B,Hq,Hkv,Nq,Nk,D", 6, 1, LONGEST,
                        x, why))
        return false;
    *a = (struct attention_shape){x[0], x[1], x[2], x[3], x[4], x[5], a->causal};
    return true;
}

static bool read_heads(struct attention_shape *a, const struct scenario *s, bool known,
                       struct message *why)
{
    bool given_q = s->given[OPTION_HEADS_Q], given_kv = s->given[OPTION_HEADS_KV];
    if (!known && !given_q && !given_kv)
        return refuse(why,
                      "how many heads? --heads-q N is right, and --heads-kv where they differ");
    if (!number(s, OPTION_HEADS_Q, MOST, &a->heads_q, why) ||
        !number(s, OPTION_HEADS_KV, MOST, &a->heads_kv, why))
        return false;
    if (!known) {
        a->heads_q = given_q ? a->heads_q : a->heads_kv;
        a->heads_kv = given_kv ? a->heads_kv : a->heads_q;
    }
    return true;
}

static bool read_parts(struct plan_page *page, const struct scenario *s, struct message *why)
{
    struct attention_shape *a = &page->request.shape;
    bool known = page->example != NULL, decode = page->request.kernel == PLAN_KERNEL_DECODE;
    if (!known && !s->given[OPTION_LEN])
        return refuse(why, "how many tokens? --len N is right, or --shape, or an example such as "
                           "8k; flashulp list launches");
    if (!number(s, OPTION_LEN, LONGEST, &a->len_k, why))
        return false;
    a->len_q = decode ? 1 : a->len_k;
    return number(s, OPTION_PLAN_LEN_Q, LONGEST, &a->len_q, why) &&
           number(s, OPTION_LAUNCH_BATCH, MOST, &a->batch, why) &&
           number(s, OPTION_DIM, 65536, &a->dim, why) && read_heads(a, s, known, why);
}

static bool read_shape(struct plan_page *page, const struct scenario *s, struct message *why)
{
    struct attention_shape *a = &page->request.shape;
    bool whole = s->given[OPTION_PLAN_SHAPE];
    if (whole && page->example != NULL)
        return refuse(why, "--shape says all sizes; %s does not go with it", page->example);
    if (!(whole ? read_whole_shape(a, s, why) : read_parts(page, s, why)))
        return false;
    a->causal = a->causal || s->given[OPTION_CAUSAL];
    if (a->heads_q % a->heads_kv != 0)
        return refuse(why, "%" PRId64 " query heads are not a multiple of %" PRId64 " KV heads",
                      a->heads_q, a->heads_kv);
    return true;
}

static bool read_devices(struct plan_page *page, const struct scenario *s, struct message *why)
{
    const char *list = s->value[OPTION_PLAN_DEVICES];
    return devices_from_list(list != NULL ? list : "A100", page->device, PLAN_DEVICES,
                             &page->devices, why);
}

static bool read_tile(struct plan_page *page, const struct scenario *s, struct message *why)
{
    enum { TALLEST = 4096, MOST_WARPS = 32 };
    int64_t x[2], warps = 0;
    enum plan_kernel k = page->request.kernel;
    if (s->given[OPTION_SWEEP] && (s->given[OPTION_PLAN_TILE] || s->given[OPTION_WARPS]))
        return refuse(why, "--sweep tries every tile; --tile and --warps do not go with it");
    if (s->given[OPTION_SWEEP] && k != PLAN_KERNEL_FA2 && k != PLAN_KERNEL_BACKWARD)
        return refuse(why, "--sweep tries the tiles of fa2 and backward, not of %s",
                      plan_kernel_name(k));
    if (s->given[OPTION_WARPS] && !s->given[OPTION_PLAN_TILE])
        return refuse(why, "--warps goes with --tile Br,Bc");
    page->sweep = s->given[OPTION_SWEEP];
    if (!s->given[OPTION_PLAN_TILE])
        return true;
    if (!parse_integers("--tile", s->value[OPTION_PLAN_TILE], "Br,Bc", 2, 1, TALLEST, x, why) ||
        !number(s, OPTION_WARPS, MOST_WARPS, &warps, why))
        return false;
    page->request.tile = (struct tiling){(int)x[0], (int)x[1], (int)warps};
    return true;
}

static bool take_assumption(void *values, const char *line, struct message *why)
{
    return assume(values, line, why);
}

static bool read_request(struct plan_page *page, const struct scenario *s, struct message *why)
{
    const char *kernel = s->value[OPTION_PLAN_KERNEL];
    page->request = plan_request_default();
    if ((s->problem != NULL && !read_example(page, s->problem, why)) ||
        (kernel != NULL && !plan_kernel_from_name(kernel, &page->request.kernel, why)))
        return false;
    if (s->given[OPTION_NUM_SPLITS] && page->request.kernel != PLAN_KERNEL_DECODE)
        return refuse(why, "--num-splits goes with --kernel decode");
    return read_shape(page, s, why) && read_devices(page, s, why) && read_tile(page, s, why) &&
           number(s, OPTION_NUM_SPLITS, 128, &page->request.num_splits, why) &&
           each_line(s->value[OPTION_ASSUME], take_assumption, page->request.assume, why);
}

/* A tile that was asked for must launch somewhere. */
static bool tile_launches(const struct plan_page *page, struct message *why)
{
    const struct cost *c = &page->cost[0];
    int most = 0;
    for (int d = 0; d < page->devices; d++) {
        int kb = architecture_info(page->device[d].architecture)->shared_per_block;
        if (page->cost[d].per_sm > 0)
            return true;
        most = kb > most ? kb : most;
    }
    if (c->occupancy.needs.threads > 1024)
        return refuse(why, "--warps %d: a block may have 32 warps", c->grid.tile.warps);
    return refuse(why,
                  "--tile %d,%d needs %s bytes of shared memory at head size %" PRId64
                  "; a block may have %d KB%s: fewer rows or keys are right",
                  c->grid.tile.Br, c->grid.tile.Bc, grouped(c->occupancy.needs.shared).text,
                  page->request.shape.dim, most,
                  page->devices > 1 ? " at most on these devices" : "");
}

static bool answer(struct plan_page *page, struct message *why)
{
    for (int d = 0; d < page->devices; d++)
        if (!plan_cost(&page->request, &page->device[d], &page->cost[d], why))
            return false;
    if (!tile_launches(page, why))
        return false;
    plan_json(page);
    if (page->sweep && !plan_sweep(page, why))
        return false;
    if (!page->sweep)
        plan_text(page);
    plan_report_page(page);
    return true;
}

int cli_plan(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_PLAN, argc, argv, &status))
        return status;
    struct plan_page *page = calloc(1, sizeof *page);
    if (page == NULL)
        abort();
    report_new(&r, &s);
    page->report = &r;
    const char *figures =
        s.given[OPTION_SWEEP] ? "shares heads roofline waves sweep" : "shares heads roofline waves";
    if (!read_request(page, &s, &why) ||
        !report_check_outputs(&s, "json md csv html svg", NULL, 0, &why) ||
        !cli_check_figure(&s, figures, &why) || !answer(page, &why) || !report_finish(&r, &why))
        status = cli_refused("plan", &why);
    report_free(&r);
    scenario_free(&s);
    free(page);
    return status;
}
