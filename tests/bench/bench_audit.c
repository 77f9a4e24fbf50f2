/* bench_audit.c: whose bits are these: the search over a decode step of 27,525 tokens, head size 256,
   16 query and 4 KV heads, all on one core: an output that a kernel gives, found at the first stage,
   and one with a flipped bit, for which everything that the limit allows is tried in vain; against
   one minute of two cores. */
#include "tests/bench/bench.h"
#include "tests/measured.h"
#include "tests/random_problem.h"

enum { KEYS = 27525, D = 256, HQ = 16, HKV = 4, ALLOWED = 120 };

struct searching {
    struct bench bench;
    struct identify_space *space;
    int run;
    enum audit_verdict wanted;
};

static void find(void *with)
{
    const struct searching *s = with;
    struct identification found;
    struct message why;
    if (!identify(s->space, s->run, &found, NULL, &why) || found.verdict != s->wanted)
        abort();
    identification_free(&found);
}

static double allowed(void *with)
{
    (void)with;
    return ALLOWED;
}

static void time_search(struct searching *s, const char *what)
{
    struct peer peer[] = {{what, find, s, 0, 0, NULL},
                          {"a minute of two cores", NULL, s, 0, 0, allowed}};
    bench_rounds(peer, 2, 1);
    bench_times_row(what, &peer[0], &peer[1], 1);
}

int main(void)
{
    struct searching s;
    struct problem p;
    struct message why;
    uint64_t seed = 1;
    struct problem_options options = problem_defaults();
    if (!draw_problem(&p, FORMAT_BF16, (struct shape){1, HQ, HKV, 1, KEYS, D}, 1, &options, &seed))
        return 1;
    bench_new(&s.bench, &p, 1);
    bench_measure(&s.bench, "fa2-split@B200", FORMAT_BF16);
    struct audit_run *flipped = bench_measure(&s.bench, "fa2-split@H200", FORMAT_BF16);
    double *O = &flipped->O[777];
    *O = format_decode(FORMAT_BF16, format_encode(FORMAT_BF16, *O) ^ 4);
    bench_judge(&s.bench);
    s.space = identify_space_new(&s.bench.audit, &why);
    if (s.space == NULL)
        return 1;
    s.run = 0;
    s.wanted = AUDIT_LEGAL;
    time_search(&s, "audit --identify");
    s.run = 1;
    s.wanted = AUDIT_UNEXPLAINED;
    time_search(&s, "the same, in vain");
    bench_note("27,525 tokens, d 256, 16 query and 4 KV heads, one measured output");
    identify_space_free(s.space);
    bench_free(&s.bench);
    return 0;
}
