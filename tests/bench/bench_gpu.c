/* bench_gpu.c: FlashAttention-2 on the emulator, against the same bits from its pair in the
   simulator: N 512, 4 heads, d 64.  usage: bench_gpu PROGRAM      PROGRAM: flashulp-gpu, which
   times both */
#include "tests/bench/bench.h"

enum { ROUNDS = 5 };

struct way {
    const char *program, *options;
    double kernel, pair; /* of the last run */
};

/* The number behind a key of the program's JSON. */
static double number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(strchr(at, ':') + 1, NULL) : 0;
}

/* What `PROGRAM VERB` prints of the problem with --json. */
static void ask(const char *program, const char *verb, const char *options, char *text, size_t room)
{
    char command[512];
    snprintf(command, sizeof command,
             "'%s' %s --emulate --json --generate gaussian --dtype bf16 --shape 1,4,4,512,512,64 "
             "%s",
             program, verb, options);
    FILE *from = popen(command, "r");
    if (from == NULL)
        abort();
    text[fread(text, 1, room - 1, from)] = 0;
    if (pclose(from) != 0) {
        fprintf(stderr, "%s\nfailed\n", command);
        exit(1);
    }
}

static double kernel_seconds(void *with)
{
    struct way *w = with;
    char text[8192];
    ask(w->program, "run --pair", w->options, text, sizeof text);
    w->kernel = number_of(text, "\"seconds\"");
    w->pair = number_of(text, "\"pair_seconds\"");
    return w->kernel;
}

static double pair_seconds(void *with)
{
    return ((const struct way *)with)->pair;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what, *options;
        double goal;
    } rows[] = {{"emulated fa2, fp32", "", 1.5},
                {"emulated fa2, sm90", "--accumulate sm90", 2},
                {"emulated fa2, all checks", "--accumulate sm90 --schedule detector", 5}};
    if (argc < 2)
        return 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct way w = {argv[1], rows[i].options, 0, 0};
        struct peer peer[] = {{rows[i].what, NULL, &w, 0, 0, kernel_seconds},
                              {"its pair, simulated", NULL, &w, 0, 0, pair_seconds}};
        bench_rounds(peer, 2, ROUNDS);
        bench_times_row(rows[i].what, &peer[0], &peer[1], rows[i].goal);
    }
    char text[8192];
    ask(argv[1], "trace", "", text, sizeof text);
    bench_note("N 512, 4 heads, d 64, bf16; both give the same bits");
    bench_note("%.2f million switches between lanes: times the fibre switch above, the least time",
               1e-6 * number_of(text, "\"switches\""));
    bench_note("  of any run thread by thread; the pair takes a vector of lanes at once");
    return 0;
}
