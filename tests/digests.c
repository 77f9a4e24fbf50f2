/* digests.c: one line per algorithm, policy, special functions, order and arithmetic: the digest of
   its outputs over a fixed set of problems; then of gradients, by listings and by FlashAttention-2's
   backward kernels.  tests/check_digests.sh holds them to
   tests/golden/digests.txt on every compiler, level, processor and number of threads.
   usage: digests [THREADS]; the processor level goes to stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/gradient.h"
#include "tests/random_problem.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static const struct problem_row {
    struct shape shape;
    struct mask mask;
    double size, softcap;
    int Br, Bc;
} problem_rows[] = {
    {{2, 4, 2, 19, 37, 24}, {true, ALIGN_BOTTOM_RIGHT, -1, -1}, 1, 0, 8, 16},
    {{1, 1, 1, 9, 40, 5}, {false, ALIGN_BOTTOM_RIGHT, 6, 3}, 6, 0, 4, 7},
    {{1, 2, 1, 7, 12, 33}, {false, ALIGN_TOP_LEFT, -1, -1}, 2, 1.5, 7, 12},
};

static const struct runner {
    enum algorithm algorithm;
    bool descending;
    enum merge merge; /* decode's */
} runners[] = {
    {ALGORITHM_STANDARD, false, 0},
    {ALGORITHM_ONLINE, false, 0},
    {ALGORITHM_FA1, false, 0},
    {ALGORITHM_FA2, false, 0},
    {ALGORITHM_FA2, true, 0},
    {ALGORITHM_FA1_PRINTED, false, 0},
    {ALGORITHM_FA2_PRINTED, false, 0},
    {ALGORITHM_UNSTABLE, false, 0},
    {ALGORITHM_AUTOCAST, false, 0},
    {ALGORITHM_SPLITK, false, 0},
    {ALGORITHM_DECODE, false, MERGE_LSE},
    {ALGORITHM_DECODE, true, MERGE_RUNNING},
    {ALGORITHM_DECODE, false, MERGE_NORMALISED_MAX_SUM},
};

/* Not summed by keys in a tree: key tiles differ from problem to problem. */
static const char *const orders[] = {"seq", "pairwise"};
static const char *const summing[] = {"SCORE_ACC", "ROW_SUM", "OUT_ACC", "COMBINE_SUM",
                                      "COMBINE_ACC"};

static const struct policy_row {
    const char *arith;
    enum policy_id policy;
} policy_rows[] = {
    {"float", POLICY_FP32},   {"float", POLICY_GPU_BF16},  {"float", POLICY_GPU_FP16},
    {"float", POLICY_ALL_BF16}, {"float", POLICY_FP8},     {"double", POLICY_GPU_BF16},
    {"double", POLICY_EXACT}, {"mpfr", POLICY_FP32},
};

/* As GPUs sum: products in a tensor core, rows by lanes; for FlashAttention-2 and standard
   attention. */
static const struct gpu_row {
    struct policy_row row;
    const char *products, *rows;
} gpu_rows[] = {
    {{"float", POLICY_GPU_BF16}, "mma@sm80", "lanes:quad:2,1"},
    {{"float", POLICY_GPU_BF16}, "mma@sm90", "lanes:quad:fused:2,1"},
    {{"double", POLICY_GPU_BF16}, "mma@sm90", "lanes:quad:fused:2,1"},
    {{"mpfr", POLICY_GPU_BF16}, "mma@sm90", "lanes:quad:fused:2,1"},
    {{"float", POLICY_GPU_FP16}, "mma@sm70", "lanes:mod8:4,2,1"},
    {{"float", POLICY_FP32}, "mma@sm90/tf32", "lanes:mod2:1"},
    {{"float", POLICY_FP8}, "mma@sm89/fp8", "lanes:quad:1,2"},
};

static void stop(const char *why)
{
    fprintf(stderr, "digests: %s\n", why);
    exit(1);
}

static void make_problem(struct problem *p, const struct problem_row *row, enum format f, int n)
{
    struct problem_options o = problem_defaults();
    uint64_t state = (uint64_t)n;
    o.mask = row->mask;
    o.softcap = row->softcap;
    if (!draw_problem(p, f == FORMAT_EXACT ? FORMAT_FP32 : f, row->shape, row->size, &o, &state))
        stop("no problem");
}

/* `rows`: of sums along rows, where they have an order of their own. */
static void set_order(struct policy *policy, const char *order, const char *rows)
{
    struct message why;
    for (int i = 0; i < COUNT(summing); i++) {
        char text[64];
        bool row_sum = rows != NULL && strcmp(summing[i], "ROW_SUM") == 0;
        snprintf(text, sizeof text, "%s=%s", summing[i], row_sum ? rows : order);
        if (!policy_order(policy, text, &why))
            stop(why.text);
    }
}

/* All problems' digests, put together as FNV-1a does bytes. */
static uint64_t digest_of(struct simulation *s)
{
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (int n = 0; n < COUNT(problem_rows); n++) {
        const struct problem_row *row = &problem_rows[n];
        struct problem p;
        struct result result;
        struct message why;
        make_problem(&p, row, s->policy.site[SITE_INPUT].format, n);
        s->choices.Br = algorithm_info(s->algorithm)->Bc == 0 ? 0 : row->Br;
        s->choices.Bc = s->algorithm == ALGORITHM_ONLINE ? 1 : row->Bc;
        s->choices.faults = algorithm_faults(s->algorithm) & ~(1u << FAULT_NO_TAIL_MASK);
        if (!simulate(&p, s, &result, &why))
            stop(why.text);
        for (int i = 0; i < 8; i++)
            digest = (digest ^ (result.digest >> (8 * i) & 0xFF)) * UINT64_C(0x100000001B3);
        result_free(&result);
        problem_free(&p);
    }
    return digest;
}

static void print_line(const struct runner *runner, const struct policy_row *row,
                       enum special special, const char *order, const char *rows, int threads)
{
    struct message why;
    struct simulation s = simulation_default();
    s.algorithm = runner->algorithm;
    s.choices.descending = runner->descending;
    s.choices.merge = runner->merge;
    s.arith = arithmetic_named(row->arith, &why);
    s.policy = policy_table(row->policy);
    s.policy.special.how = special;
    s.threads = threads;
    set_order(&s.policy, order, rows);
    printf("%s%s%s%s %s %s %s %s%s%s %016llx\n", algorithm_info(s.algorithm)->name,
           runner->descending ? "-descending" : "", s.algorithm == ALGORITHM_DECODE ? ":" : "",
           s.algorithm == ALGORITHM_DECODE ? merge_name(s.choices.merge) : "", row->arith,
           policy_name(row->policy), special_name(special), order,
           rows == NULL ? "" : "+", rows == NULL ? "" : rows, (unsigned long long)digest_of(&s));
}

/* dO of the problem, drawn after it, and the digests of dQ, dK and dV put together like outputs'. */
static uint64_t add_gradients(uint64_t digest, const struct problem *p, enum format f, uint64_t seed,
                              const struct simulation *s)
{
    struct tensor dO;
    struct gradients g;
    struct message why;
    if (!draw_tensor(&dO, f == FORMAT_EXACT ? FORMAT_FP32 : f, p->B, p->Hq, p->Nq, p->D, 1, &seed))
        stop("no gradient of O");
    if (!simulate_gradients(p, &dO, s, &g, &why))
        stop(why.text);
    for (int i = 0; i < 8; i++)
        digest = (digest ^ (g.digest >> (8 * i) & 0xFF)) * UINT64_C(0x100000001B3);
    gradients_free(&g);
    tensor_free(&dO);
    return digest;
}

/* One copy of dQ; two; and added in a drawn order. */
static void print_gradients(enum algorithm a, const struct policy_row *row, int threads)
{
    static const char *const ways[] = {"one", "two", "drawn"};
    for (int way = 0; way < COUNT(ways); way++) {
        uint64_t digest = UINT64_C(0xCBF29CE484222325);
        struct message why;
        struct simulation s = simulation_default();
        s.algorithm = a;
        s.arith = arithmetic_named(row->arith, &why);
        s.policy = policy_table(row->policy);
        s.threads = threads;
        s.choices.dq_copies = way == 1 ? 2 : 0;
        s.choices.dq_drawn = way == 2;
        s.choices.dq_seed = 7;
        for (int n = 0; n < COUNT(problem_rows); n++) {
            struct problem p;
            enum format f = s.policy.site[SITE_INPUT].format;
            make_problem(&p, &problem_rows[n], f, n);
            s.choices.Br = problem_rows[n].Br;
            s.choices.Bc = problem_rows[n].Bc;
            digest = add_gradients(digest, &p, f, (uint64_t)n, &s);
            problem_free(&p);
        }
        printf("backward:%s %s %s %s %016llx\n", algorithm_info(a)->name, row->arith,
               policy_name(row->policy), ways[way], (unsigned long long)digest);
    }
}

/* A causal problem of 130 queries and 150 keys, two query heads on one key head. */
static void print_kernel_gradients(const char *device, enum format f, int64_t D, int threads)
{
    static const struct problem_row row = {{1, 2, 1, 130, 150, 0}, {true, ALIGN_BOTTOM_RIGHT, -1, -1},
                                           1, 0, 0, 0};
    struct problem_row sized = row;
    struct problem p;
    struct message why;
    struct simulation s = simulation_default();
    char name[64];
    sized.shape.D = D;
    make_problem(&p, &sized, f, 1);
    snprintf(name, sizeof name, "fa2-bwd@%s", device);
    s.is_kernel = true;
    s.threads = threads;
    if (!kernel_choose(&s.kernel, name, &why) || !kernel_takes(&s.kernel, &p, f, &why) ||
        !kernel_policy(&s.kernel, &p, f, &s.policy, &why))
        stop(why.text);
    s.forward = kernel_forward(&s.kernel);
    printf("%s %s %d %016llx\n", name, format_info(f)->name, (int)D,
           (unsigned long long)add_gradients(UINT64_C(0xCBF29CE484222325), &p, f, 1, &s));
    problem_free(&p);
}

static void print_backward(int threads)
{
    static const enum algorithm after[] = {ALGORITHM_FA2, ALGORITHM_SPLITK};
    for (int a = 0; a < COUNT(after); a++)
        for (int p = 0; p < COUNT(policy_rows); p++)
            if (strcmp(policy_rows[p].arith, "mpfr") != 0)
                print_gradients(after[a], &policy_rows[p], threads);
    print_kernel_gradients("A100", FORMAT_BF16, 64, threads);
    print_kernel_gradients("H200", FORMAT_FP16, 128, threads);
    print_kernel_gradients("RTX-4090", FORMAT_BF16, 96, threads);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    fprintf(stderr, "%s\n", cpu_level_name(cpu_level()));
    for (int a = 0; a < COUNT(runners); a++)
        for (int p = 0; p < COUNT(policy_rows); p++)
            for (int special = 0; special < SPECIAL_TABLE; special++)
                for (int o = 0; o < COUNT(orders); o++) {
                    bool slow = strcmp(policy_rows[p].arith, "mpfr") == 0;
                    bool fa2 = runners[a].algorithm == ALGORITHM_FA2;
                    if (special > SPECIAL_POLY && !(fa2 && !slow && o == 0))
                        continue; /* they change the exponential alone */
                    if (!slow || (fa2 && special == SPECIAL_CR))
                        print_line(&runners[a], &policy_rows[p], (enum special)special, orders[o],
                                   NULL, threads);
                }
    for (int a = 0; a < COUNT(runners); a++)
        for (int g = 0; g < COUNT(gpu_rows); g++)
            if (runners[a].algorithm == ALGORITHM_FA2 || runners[a].algorithm == ALGORITHM_STANDARD)
                print_line(&runners[a], &gpu_rows[g].row, SPECIAL_CR, gpu_rows[g].products,
                           gpu_rows[g].rows, threads);
    print_backward(threads);
    return 0;
}
