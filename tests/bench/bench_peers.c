/* bench_peers.c: attention and rounding by what else is on this machine: OpenBLAS (looked for as a
   shared library), numpy and torch (in a Python beside, tests/bench/peers.py), on one thread each.

   Their attention is standard's in fp32, in an order of their own: speed is compared, not bits. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator/simulate.h"
#include "tests/bench/bench.h"
#include "tests/random_problem.h"

enum { N = 1024, D = 64, FLOATS = 1 << 20 };

static struct problem problem;
static struct policy fp32, bf16;
static struct run rounding;
static struct tile *from, *to;

static void attend(void *with)
{
    (void)with;
    struct simulation s = simulation_default();
    struct run r;
    struct message why;
    struct head h = problem_head(&problem, 0);
    s.policy = fp32;
    if (!run_new(&r, s.arith, &s.policy, 53, &why))
        abort();
    simulate_head(&r, &s, &h);
    run_free(&r);
}

static void round_floats(void *with)
{
    (void)with;
    struct call c = {
        .verb = VERB_ROUND_AT, .dst = to, .a = from, .arg_site = SITE_NONE, .site = SITE_PROB};
    perform_plain(&rounding, &c);
}

static void prepare(void)
{
    struct problem_options options = problem_defaults();
    struct message why;
    uint64_t state = 1;
    fp32 = policy_table(POLICY_FP32);
    bf16 = policy_table(POLICY_GPU_BF16);
    if (!draw_problem(&problem, FORMAT_FP32, (struct shape){1, 1, 1, N, N, D}, 1, &options,
                      &state) ||
        !run_new(&rounding, arith_float(), &bf16, 53, &why))
        abort();
    from = tile_new(&rounding, TENSOR_S, 1, FLOATS);
    to = tile_new(&rounding, TENSOR_P, 1, FLOATS);
    for (int i = 0; i < FLOATS; i++)
        ((float *)from->data)[i] = (float)((double)rand() / RAND_MAX - 0.5);
}

/* As cblas.h declares it: row-major 101, plain 111, transposed 112. */
typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static sgemm *blas;
static float scores[N * N], output[N * D];

/* The two products alone. */
static void by_blas(void *with)
{
    (void)with;
    blas(101, 111, 112, N, N, D, 0.125f, problem.q.data, D, problem.k.data, D, 0, scores, N);
    blas(101, 111, 111, N, D, N, 1, scores, N, problem.v.data, D, 0, output, D);
}

static void find_blas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library != NULL)
        *(void **)&blas = dlsym(library, "cblas_sgemm");
    if (blas == NULL)
        bench_missing("OpenBLAS", "apt-get install libopenblas0");
    else
        bench_found("OpenBLAS", "libopenblas.so.0");
}

/* A Python that does what it is told, a line each, and answers with its seconds. */
static struct {
    FILE *ask, *answer;
    pid_t child;
} python;

static void start_python(const char *script)
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0 || (python.child = fork()) < 0)
        abort();
    if (python.child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", script, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    python.ask = fdopen(in[1], "w");
    python.answer = fdopen(out[0], "r");
}

static double by_python(void *with)
{
    char line[64];
    fprintf(python.ask, "%s\n", (const char *)with);
    fflush(python.ask);
    if (fgets(line, sizeof line, python.answer) == NULL) {
        fprintf(stderr, "bench_peers: %s: no answer\n", (const char *)with);
        exit(1);
    }
    return strtod(line, NULL);
}

/* Its first line: which of the two it has, "numpy 2.1" or "numpy -". */
static bool found(const char *name)
{
    char line[96], *version;
    if (fgets(line, sizeof line, python.answer) == NULL)
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    version = strchr(line, ' ');
    if (version != NULL && strcmp(version, " -") != 0) {
        bench_found(name, version + 1);
        return true;
    }
    bench_missing(name, line[0] == 0     ? "apt-get install python3"
                        : name[0] == 'n' ? "apt-get install python3-numpy"
                                         : "pip install torch");
    return false;
}

int main(int argc, char **argv)
{
    prepare();
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    find_blas();
    start_python(argc > 1 ? argv[1] : "tests/bench/peers.py");
    bool numpy = found("numpy"), torch = found("torch");
    enum { PLACES = 4 };
    struct peer attention[PLACES] = {{"", attend, NULL, 0, 0, NULL}};
    struct peer round[PLACES] = {{"", round_floats, NULL, 0, 0, NULL}};
    int a = 1, r = 1;
    if (blas != NULL)
        attention[a++] = (struct peer){"OpenBLAS, products only", by_blas, NULL, 0, 0, NULL};
    if (numpy) {
        attention[a++] = (struct peer){"numpy, standard", NULL, "numpy attention", 0, 0, by_python};
        round[r++] = (struct peer){"numpy", NULL, "numpy round", 0, 0, by_python};
    }
    if (torch) {
        attention[a++] = (struct peer){"torch sdpa", NULL, "torch attention", 0, 0, by_python};
        round[r++] = (struct peer){"torch .to(bfloat16)", NULL, "torch round", 0, 0, by_python};
    }
    if (a > 1)
        bench_rounds(attention, a, BENCH_ROUNDS);
    if (r > 1)
        bench_rounds(round, r, BENCH_ROUNDS);
    for (int i = 1; i < a; i++)
        bench_times_row("fa2 fp32 1024x64", &attention[0], &attention[i], 0);
    for (int i = 1; i < r; i++)
        bench_times_row("bf16 of 2^20 floats", &round[0], &round[i], 0);
    fclose(python.ask);
    waitpid(python.child, NULL, 0);
    return 0;
}
