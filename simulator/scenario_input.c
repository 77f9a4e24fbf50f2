/* scenario_input.c: the problem a scenario speaks of.

   One source of Q, K, V (an example, a file, --q --k --v, --scores, --generate); options over it;
   then INPUT: --dtype if given; else the policy's INPUT if a policy is named and narrower than what
   the file holds; else fp32 for anything wider.  `exact` takes the numbers as they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/data.h"
#include "simulator/dump.h"
#include "simulator/scenario_draft.h"
#include "simulator/scenario_pages.h"

static struct {
    generate_inputs *generate;
    const char *const *families;
    int count;
} generator;

void scenario_register_generator(generate_inputs *generate, const char *const *families, int count)
{
    generator.generate = generate;
    generator.families = families;
    generator.count = count;
}

generate_inputs *scenario_generator(const char *const **families, int *count)
{
    *families = generator.families;
    *count = generator.count;
    return generator.generate;
}

/* B,Hq,Hkv,Nq,Nk,D with every product that counts elements below 2^48. */
static bool read_shape(const char *text, struct generator_request *g, struct message *why)
{
    enum { B, HQ, HKV, NQ, NK, D };
    const int64_t most = (int64_t)1 << 48;
    int64_t n[6], queries, keys;
    if (!parse_integers("--shape", text, "B,Hq,Hkv,Nq,Nk,D", 6, 0, most, n, why))
        return false;
    if (n[HQ] < 1 || n[HKV] < 1 || n[D] < 1)
        return refuse(why, "--shape %s: Hq, Hkv and D are 1 or more", text);
    if (n[HQ] % n[HKV] != 0)
        return refuse(why, "--shape %s: Hq %lld is not a multiple of Hkv %lld", text,
                      (long long)n[HQ], (long long)n[HKV]);
    if (__builtin_mul_overflow(n[B], n[HQ], &queries) ||
        __builtin_mul_overflow(queries, n[NQ], &queries) ||
        __builtin_mul_overflow(queries, n[D], &queries) ||
        __builtin_mul_overflow(n[B], n[HKV], &keys) || __builtin_mul_overflow(keys, n[NK], &keys) ||
        __builtin_mul_overflow(keys, n[D], &keys) || queries > most || keys > most)
        return refuse(why, "--shape %s: more elements than 2^48", text);
    g->B = n[B];
    g->Hq = n[HQ];
    g->Hkv = n[HKV];
    g->Nq = n[NQ];
    g->Nk = n[NK];
    g->D = n[D];
    return true;
}

bool draft_from_generator(const struct scenario *s, struct draft *d, struct message *why)
{
    struct generator_request g = {.family = s->value[OPTION_GENERATE]};
    int64_t seed = 1;
    if (generator.generate == NULL)
        return refuse(why, "--generate needs the flashulp program: its library has no generators");
    if (s->value[OPTION_SHAPE] == NULL)
        return refuse(why, "--generate needs --shape B,Hq,Hkv,Nq,Nk,D");
    if (!read_shape(s->value[OPTION_SHAPE], &g, why))
        return false;
    if (s->value[OPTION_SEED] != NULL &&
        !parse_integer("--seed", s->value[OPTION_SEED], 0, INT64_MAX, &seed, why))
        return false;
    g.seed = (uint64_t)seed;
    text_append(&d->name, "%s, seed %lld", g.family, (long long)seed);
    return generator.generate(&g, &d->q, &d->k, &d->v, why);
}

void draft_from_problem(struct problem *p, struct draft *d)
{
    d->q = p->q;
    d->k = p->k;
    d->v = p->v;
    d->options.scale_given = p->scale.root == 1;
    d->options.scale = p->scale.value;
    d->options.mask = p->mask;
    d->options.softcap = p->softcap;
    d->scores_given = p->scores_given;
    d->tiles = p->tiles;
    d->tile_ends = p->tile_ends;
    d->launch_q = p->launch_q;
    d->launch_kv = p->launch_kv;
    *p = (struct problem){0};
}

static bool draft_from_scores(const struct scenario *s, struct draft *d, struct message *why)
{
    struct problem p;
    if (s->value[OPTION_SCORES] == NULL || s->value[OPTION_VALUES] == NULL)
        return refuse(why, "--scores and --values go together");
    if (!problem_from_scores(&p, s->value[OPTION_SCORES], s->value[OPTION_VALUES], why))
        return false;
    draft_from_problem(&p, d);
    text_append(&d->name, "scores");
    return true;
}

static bool draft_from_example(const struct scenario *s, enum example e, struct draft *d,
                               struct message *why)
{
    const char *file = example_info(e)->file;
    struct problem p;
    text_append(&d->name, "%s", example_info(e)->name);
    if (file != NULL) {
        char *path = data_file(file, why);
        bool ok = path != NULL && draft_from_capture(s, path, d, why);
        free(path);
        return ok;
    }
    if (!example_problem(e, &p, why))
        return false;
    draft_from_problem(&p, d);
    return true;
}

/* A word with a dot or a slash is a file; another one is an example's name. */
static bool draft_from_word(const struct scenario *s, struct draft *d, struct message *why)
{
    enum example e;
    const char *names[EXAMPLE_COUNT];
    if (scenario_example(s, &e))
        return draft_from_example(s, e, d, why);
    if (is_folder(s->problem))
        return draft_from_dump(s, s->problem, d, why);
    if (strpbrk(s->problem, "./") != NULL) {
        text_append(&d->name, "%s", s->problem);
        return draft_from_capture(s, s->problem, d, why);
    }
    for (int i = 0; i < EXAMPLE_COUNT; i++)
        names[i] = example_info((enum example)i)->name;
    const char *near = nearest_name(s->problem, names, EXAMPLE_COUNT);
    if (near != NULL)
        return refuse(why, "no example is named %.60s; did you mean %s?", s->problem, near);
    return refuse(why,
                  "no example is named %.60s; flashulp list examples names them, and a file "
                  "ends in .safetensors or .npz",
                  s->problem);
}

/* The one source that is named. */
static bool draft_source(const struct scenario *s, struct draft *d, struct message *why)
{
    const char *named[4] = {
        s->problem,
        s->given[OPTION_Q] || s->given[OPTION_K] || s->given[OPTION_V] ? "--q --k --v" : NULL,
        s->given[OPTION_SCORES] || s->given[OPTION_VALUES] ? "--scores" : NULL,
        s->given[OPTION_GENERATE] ? "--generate" : NULL};
    int first = -1;
    for (int i = 0; i < 4; i++) {
        if (named[i] == NULL)
            continue;
        if (first >= 0)
            return refuse(why, "%.60s and %s each name a problem; one is right", named[first],
                          named[i]);
        first = i;
    }
    if (s->given[OPTION_SHAPE] && !s->given[OPTION_GENERATE])
        return refuse(why, "--shape goes with --generate");
    if (s->given[OPTION_SEED] && !s->given[OPTION_GENERATE])
        return refuse(why, "--seed goes with --generate");
    switch (first) {
    case 0:
        return draft_from_word(s, d, why);
    case 1:
        return draft_from_files(s, d, why);
    case 2:
        return draft_from_scores(s, d, why);
    case 3:
        return draft_from_generator(s, d, why);
    default:
        return refuse(why, "no problem is named; an example (fa2-4), a .safetensors or .npz file, "
                           "--q --k --v, --scores --values, or --generate is right");
    }
}

/* A number wider than f, in bits of storage? */
static bool wider(enum format held, enum format f)
{
    return format_info(f)->bits != 0 && format_info(held)->bits > format_info(f)->bits;
}

static enum format widest(const struct problem *p)
{
    enum format f = p->q.dtype;
    f = wider(p->k.dtype, f) ? p->k.dtype : f;
    return wider(p->v.dtype, f) ? p->v.dtype : f;
}

/* Does a --set name INPUT? */
static bool sets_input(const struct scenario *s)
{
    const char *at = s->value[OPTION_SET];
    for (; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, "INPUT=", 6) == 0)
            return true;
    }
    return false;
}

/* What the inputs are rounded to; exact: left as they are. */
static bool input_format(const struct scenario *s, enum format held, enum format *f,
                         struct message *why)
{
    struct policy policy;
    if (s->value[OPTION_DTYPE] != NULL)
        return format_from_name(s->value[OPTION_DTYPE], f, why);
    *f = strcmp(s->verb, "exact") != 0 && wider(held, FORMAT_FP32) ? FORMAT_FP32 : FORMAT_EXACT;
    if (s->value[OPTION_POLICY] == NULL && !sets_input(s))
        return true;
    if (!scenario_policy(s, held, &policy, why))
        return false;
    enum format wanted = policy.site[SITE_INPUT].format;
    if (wanted == FORMAT_EXACT || wider(held, wanted) || sets_input(s))
        *f = wanted;
    return true;
}

static bool apply_input(const struct scenario *s, struct scenario_input *in, char **remarks,
                        struct message *why)
{
    struct problem *p = &in->problem;
    enum format held = widest(p), f;
    in->input_format = held;
    in->input_elements = tensor_elements(&p->q) + tensor_elements(&p->k) + tensor_elements(&p->v);
    if (!input_format(s, held, &f, why))
        return false;
    if (f == FORMAT_EXACT)
        return true;
    in->input_format = f;
    if (!problem_round_input(p, f, &in->input_rounded, why))
        return false;
    if (in->input_rounded > 0)
        text_append(remarks, "%s of %s inputs were rounded to %s at INPUT\n",
                    grouped(in->input_rounded).text, grouped(in->input_elements).text,
                    format_info(f)->name);
    return true;
}

/* The draft's tensors as a problem, tiles of the user's text kept unless --tile was given. */
static bool finish(const struct scenario *s, struct draft *d, struct scenario_input *in,
                   struct message *why)
{
    struct problem *p = &in->problem;
    d->options.cu_q = d->cu_q;
    d->options.cu_k = d->cu_k;
    if (!problem_new(p, &d->q, &d->k, &d->v, &d->options, why))
        return false;
    p->scores_given = d->scores_given;
    p->launch_q = d->launch_q;
    p->launch_kv = d->launch_kv;
    if (scenario_tile(s) == NULL && d->cu_q == NULL) {
        p->tiles = d->tiles;
        p->tile_ends = d->tile_ends;
        d->tile_ends = NULL;
    }
    if (problem_from_pages(s, p, &d->remarks, why) && apply_input(s, in, &d->remarks, why))
        return true;
    problem_free(p);
    return false;
}

/* An article's figures hold for its listing, on its tiles, without a mask or another scale. */
static const struct example_figures *figures(const struct scenario *s)
{
    static const enum option changes[] = {OPTION_SCALE,   OPTION_CAUSAL, OPTION_WINDOW,
                                          OPTION_SOFTCAP, OPTION_TILE,   OPTION_CU_SEQLENS};
    enum example e;
    enum algorithm a;
    struct message ignored;
    if (!scenario_example(s, &e) || example_figures(e) == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (s->given[changes[i]])
            return NULL;
    const char *order = s->value[OPTION_KV];
    if (order != NULL && strcmp(order, "ascending") != 0)
        return NULL;
    if (!scenario_algorithm(s, &a, &ignored) || a != example_figures(e)->algorithm)
        return NULL;
    return example_figures(e);
}

bool scenario_problem(const struct scenario *s, struct scenario_input *in, struct message *why)
{
    struct draft d = {.options = problem_defaults()};
    *in = (struct scenario_input){0};
    bool ok = draft_source(s, &d, why) && draft_options(s, &d, why) && finish(s, &d, in, why);
    if (ok) {
        if (d.remarks == NULL)
            text_append(&d.remarks, "%s", "");
        in->name = d.name;
        in->remarks = d.remarks;
        in->figures = figures(s);
    } else {
        free(d.name);
        free(d.remarks);
    }
    tensor_free(&d.q);
    tensor_free(&d.k);
    tensor_free(&d.v);
    free(d.cu_q);
    free(d.cu_k);
    free(d.tile_ends);
    return ok;
}

void scenario_input_free(struct scenario_input *in)
{
    problem_free(&in->problem);
    free(in->name);
    free(in->remarks);
    *in = (struct scenario_input){0};
}
