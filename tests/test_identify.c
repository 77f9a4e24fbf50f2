/* test_identify.c: outputs with something planted in them are recognised, a hundred of them drawn
   from seeds that were fixed beforehand (planted.def); what turns one run's bits into another's; a
   flipped bit is explained by nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"
#include "tests/random_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* An audit of a problem made here, with measured outputs. */
struct bench {
    struct scenario scenario;
    struct audit audit;
};

static void bench_new(struct bench *b, const struct problem *p)
{
    struct message why;
    *b = (struct bench){.scenario = {.verb = "audit"}};
    b->audit = (struct audit){.scenario = &b->scenario, .threads = 2};
    b->audit.in.problem = *p;
    b->audit.in.input_format = FORMAT_BF16;
    b->audit.run = calloc(AUDIT_MOST_RUNS, sizeof *b->audit.run);
    assert_non_null(b->audit.run);
    if (!scenario_select(&b->scenario, p, &b->audit.selection, &why))
        fail_msg("%s", why.text);
}

/* The outputs of a named run as if they had been measured; NULL: refused. */
static struct audit_run *measure(struct bench *b, const char *name, enum format f)
{
    struct audit *a = &b->audit;
    struct audit_run model = {0};
    struct message why;
    text_append(&model.name, "%s", name);
    text_append(&model.groups, "%s", "");
    struct audit_run *run = audit_add(a, name, strlen(name), &why);
    assert_non_null(run);
    run->measured = true;
    run->format = f;
    run->O = calloc((size_t)audit_elements(a) + 1, sizeof *run->O);
    bool ok = audit_model(a, &model, &why);
    model.simulation.policy.site[SITE_OUT].format = f;
    ok = ok && look_outputs(a, &model, look_whole(a), false, run->O, &why);
    if (!ok)
        fail_msg("%s: %s", name, why.text);
    candidate_run_free(&model);
    const struct problem *p = &a->in.problem;
    assert_true(tensor_new(&run->whole, f, 4, (int64_t[]){p->B, p->Hq, p->Nq, p->D}, &why));
    for (int64_t i = 0; i < audit_elements(a); i++) {
        int64_t row = i / p->D, head = row / p->Nq;
        tensor_set(&run->whole, head / p->Hq, head % p->Hq, row % p->Nq, i % p->D, run->O[i]);
    }
    return run;
}

static void bench_judge(struct bench *b)
{
    struct message why;
    if (!audit_judge(&b->audit, NULL, &why))
        fail_msg("%s", why.text);
}

static void bench_free(struct bench *b)
{
    audit_free(&b->audit); /* and the problem */
}

/* ---- the hundred ---- */

enum kind {
#define KIND(id, ...) KIND_##id,
#include "tests/planted.def"
#undef KIND
    KINDS
};

static const struct {
    bool causal;
    int left;
    double softcap;
    struct shape shape;
    double size;
} kinds[KINDS] = {
#define KIND(id, causal, left, softcap, B, Hq, Hkv, Nq, Nk, D, size)                               \
    {causal, left, softcap, {B, Hq, Hkv, Nq, Nk, D}, size},
#include "tests/planted.def"
#undef KIND
};

static const struct plant {
    uint64_t seed;
    enum kind kind;
    const char *run, *change;
} plants[] = {
#define PLANT(seed, kind, run, change) {seed, KIND_##kind, run, change},
#include "tests/planted.def"
#undef PLANT
};

static void draw_kind(struct problem *p, enum kind kind, uint64_t seed)
{
    struct problem_options o = problem_defaults();
    o.mask.causal = kinds[kind].causal;
    o.mask.left = kinds[kind].left;
    o.softcap = kinds[kind].softcap;
    uint64_t state = seed;
    assert_true(draw_problem(p, FORMAT_BF16, kinds[kind].shape, kinds[kind].size, &o, &state));
    for (int64_t i = 0; kinds[kind].size == 0 && i < tensor_elements(&p->q); i++)
        tensor_set(&p->q, 0, i / p->D / p->Nq, i / p->D % p->Nq, i % p->D, -64);
    for (int64_t i = 0; kinds[kind].size == 0 && i < tensor_elements(&p->k); i++)
        tensor_set(&p->k, 0, i / p->D / p->Nk, i / p->D % p->Nk, i % p->D, 64);
}

enum fate { ALONE, AMONG, AS_ANOTHER, LOST, NO_BIT, FATES };
static const char *const fates[] = {"alone", "among equals", "as another", "not found",
                                    "no bit changed"};

/* Does this run have the planted change?  Its base may be any that gives the same bits. */
static bool is_plant(const struct identity *i, const struct plant *plant)
{
    const char *change = plant->change[0] != 0 ? plant->change : plant->run;
    const char *at = strstr(i->name, change);
    bool counts = strncmp(change, "splits=", 7) == 0 && strstr(i->name, "+splits=") != NULL;
    return counts || (at != NULL && (at[strlen(change)] == 0 || at[strlen(change)] == '+'));
}

static enum fate fate_of(const struct identification *found, const struct plant *plant)
{
    enum fate fate = found->found ? AS_ANOTHER : LOST;
    bool others = found->others > 0;
    for (int n = 0; n < found->count; n++)
        others = others || (found->best[n].left == 0 && !is_plant(&found->best[n], plant));
    for (int n = 0; n < found->count && found->found; n++)
        if (found->best[n].left == 0 && is_plant(&found->best[n], plant))
            fate = others ? AMONG : ALONE;
    return fate;
}

/* What a GPU stores in `f`. */
static enum fate seek(const struct plant *plant, enum format f, char **as)
{
    struct bench b;
    struct problem p;
    struct message why;
    struct identification found;
    enum fate fate = NO_BIT;
    char *name = NULL;
    text_append(&name, "%s%s%s", plant->run, plant->change[0] ? "+" : "", plant->change);
    draw_kind(&p, plant->kind, plant->seed);
    bench_new(&b, &p);
    measure(&b, name, f);
    measure(&b, plant->change[0] != 0 ? plant->run : "fa2", f);
    bench_judge(&b);
    if (audit_pair(&b.audit, 0, 1).differ > 0) {
        struct identify_space *space = identify_space_new(&b.audit, &why);
        if (!identify(space, 0, &found, NULL, &why))
            fail_msg("%s: %s", name, why.text);
        fate = fate_of(&found, plant);
        text_append(as, "%s %s (%lld tried)", audit_verdict_name(found.verdict),
                    found.count > 0 ? found.best[0].name : "", (long long)found.tried);
        identification_free(&found);
        identify_space_free(space);
    }
    free(name);
    bench_free(&b);
    return fate;
}

/* Where bf16 hides the plant, the same is looked for in outputs of fp32. */
static void planted_differences_are_found(void **unused)
{
    (void)unused;
    enum { PART = 17 };
    static const enum format formats[] = {FORMAT_BF16, FORMAT_FP32};
    const char *tests = getenv("FLASHULP_TESTS"), *only = getenv("FLASHULP_PLANT");
    bool full = tests != NULL && strcmp(tests, "full") == 0;
    int count[COUNT(formats)][FATES] = {{0}};
    for (size_t i = 0; i < COUNT(plants); i += full || only != NULL ? 1 : PART) {
        enum fate fate = NO_BIT;
        if (only != NULL && (uint64_t)atoi(only) != plants[i].seed)
            continue;
        for (size_t f = 0; f < COUNT(formats) && fate == NO_BIT; f++) {
            char *as = NULL;
            fate = seek(&plants[i], formats[f], &as);
            count[f][fate]++;
            if (full || only != NULL)
                printf("# %3d %-28s %-24s %-4s %-14s %s\n", (int)plants[i].seed, plants[i].run,
                       plants[i].change, format_info(formats[f])->name, fates[fate],
                       as != NULL ? as : "");
            free(as);
        }
    }
    for (size_t f = 0; f < COUNT(formats); f++)
        printf(
            "# note planted, stored in %s: %d found alone, %d among equals, %d as another, %d not "
            "found; %d change no bit\n",
            format_info(formats[f])->name, count[f][ALONE], count[f][AMONG], count[f][AS_ANOTHER],
            count[f][LOST], count[f][NO_BIT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_differences_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
