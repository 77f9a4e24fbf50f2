/* selftest.c: runs the rows of selftest.def, each as the command would. */
#include "simulator/cli/selftest.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/scenario.h"

static const struct selftest rows[] = {
#define SELFTEST(words, digest) {words, UINT64_C(0x##digest), 0},
#include "simulator/cli/selftest.def"
#undef SELFTEST
};

int selftest_count(void)
{
    return sizeof rows / sizeof rows[0];
}

static bool digest_of(const struct scenario *s, uint64_t *digest, struct message *why)
{
    struct scenario_input in;
    struct simulation simulation;
    struct result result;
    if (!scenario_problem(s, &in, why))
        return false;
    bool ok = scenario_simulation(s, &in, &simulation, why) &&
              simulate(&in.problem, &simulation, &result, why);
    if (ok) {
        *digest = result.digest;
        result_free(&result);
    }
    scenario_input_free(&in);
    return ok;
}

bool selftest_run(int row, struct selftest *t, struct message *why)
{
    enum { MOST = 32 };
    char words[256], *word[MOST], *rest;
    struct scenario s;
    int count = 0;
    *t = rows[row];
    strncpy(words, t->words, sizeof words - 1);
    words[sizeof words - 1] = 0;
    for (char *w = strtok_r(words, " ", &rest); w != NULL && count < MOST;
         w = strtok_r(NULL, " ", &rest))
        word[count++] = w;
    if (!scenario_parse(&s, "run", command_info(COMMAND_RUN)->groups, count, word, why))
        return false;
    bool ok = digest_of(&s, &t->got, why);
    scenario_free(&s);
    return ok;
}
