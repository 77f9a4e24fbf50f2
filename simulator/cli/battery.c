/* battery.c: `flashulp battery --command './theirs {q} {k} {v} {o}'`: edge cases for anybody's
   program, through .npy files, each in a process of its own under limits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simulator/battery_gradient.h"
#include "simulator/cli/battery.h"
#include "simulator/cli/cli.h"
#include "simulator/scenario_parts.h"

enum { MEBI = 1 << 20, LONGEST_RUN = 3600 };

struct request {
    struct battery_command command;
    struct limits limits;
    enum format dtype;
    int64_t dim;
    bool dim_given;
    uint64_t seed;
    const char *cases; /* LIST, or NULL */
    char folder[512];
};

static bool read_number(const struct scenario *s, enum option o, int64_t least, int64_t most,
                        int64_t usual, int64_t *x, struct message *why)
{
    *x = usual;
    return s->value[o] == NULL ||
           parse_integer(option_info(o)->name, s->value[o], least, most, x, why);
}

/* Nobody can know it beforehand; the report prints it. */
static uint64_t secret_seed(void)
{
    uint32_t seed = 0;
    FILE *f = fopen("/dev/urandom", "rb");
    if (f == NULL || fread(&seed, sizeof seed, 1, f) != 1)
        seed = (uint32_t)time(NULL) ^ (uint32_t)getpid() << 16;
    if (f != NULL)
        fclose(f);
    return seed;
}

static bool named(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    }
    return list == NULL;
}

static bool check_names(const char *list, struct message *why)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int count = 0;
    for (; battery_case(count) != NULL && count < MOST; count++)
        names[count] = battery_case(count)->name;
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        struct quoted word = quoted(at, strcspn(at, ","));
        bool known = false;
        for (int n = 0; n < count; n++)
            known = known || strcmp(names[n], word.text) == 0;
        const char *near = nearest_name(word.text, names, count);
        if (!known && near != NULL)
            return refuse(why, "--case: no case is called \"%s\"; did you mean %s?", word.text,
                          near);
        if (!known)
            return refuse(why, "--case: no case is called \"%s\"; flashulp list battery",
                          word.text);
    }
    return true;
}

static bool read_request(const struct scenario *s, struct request *q, struct message *why)
{
    const char *command = s->value[OPTION_COMMAND_LINE], *dtype = s->value[OPTION_BATTERY_DTYPE];
    int64_t seconds, memory, seed;
    *q = (struct request){.dtype = FORMAT_FP32, .cases = s->value[OPTION_CASE]};
    if (s->problem != NULL)
        return refuse(why, "%.60s: the program goes behind --command, in quotes", s->problem);
    if (command == NULL)
        return refuse(why, "no program is named; --command './theirs {q} {k} {v} {o}' is right");
    if (!battery_command(command, &q->command, why) || !check_names(q->cases, why) ||
        (dtype != NULL && !format_from_name(dtype, &q->dtype, why)) ||
        !read_number(s, OPTION_BATTERY_DIM, 1, 1024, 64, &q->dim, why) ||
        !read_number(s, OPTION_TIMEOUT, 1, LONGEST_RUN, 10, &seconds, why) ||
        !read_number(s, OPTION_MEMORY, 1, 1 << 24, 8192, &memory, why) ||
        !read_number(s, OPTION_BATTERY_SEED, 0, UINT32_MAX, secret_seed(), &seed, why))
        return false;
    if (q->dtype != FORMAT_FP32 && q->dtype != FORMAT_FP16 && q->dtype != FORMAT_BF16)
        return refuse(why, "--dtype %.40s: fp32, fp16 or bf16 is right", dtype);
    q->seed = (uint64_t)seed;
    q->dim_given = s->given[OPTION_BATTERY_DIM];
    q->limits = (struct limits){.folder = ".",
                                .seconds = (double)seconds,
                                .memory = memory * MEBI,
                                .file_bytes = 1024ll * MEBI,
                                .print_bytes = 64ll * MEBI};
    return true;
}

struct counts {
    int passed, failed, untested;
};

static void add_json(struct json *list, const struct battery_case *c, const char *verdict,
                     const struct battery_run *run, const struct battery_input *in)
{
    struct json *j = json_object(list, NULL);
    json_string(j, "name", c->name);
    json_string(j, "meaning", c->meaning);
    json_string(j, "verdict", verdict);
    json_string(j, "sentence", run->sentence);
    if (!run->ran)
        return;
    json_string(j, "first", run->verdict.first);
    json_string(j, "mistake", run->verdict.mistake != NULL ? run->verdict.mistake->name : "");
    json_string(j, "or_mistake", run->verdict.other != NULL ? run->verdict.other->name : "");
    json_string(j, "gradient_mistake", run->verdict.gradient != NULL ? run->verdict.gradient : "");
    json_string(j, "or_gradient_mistake",
                run->verdict.other_gradient != NULL ? run->verdict.other_gradient : "");
    json_whole(j, "outputs", run->verdict.outputs);
    json_whole(j, "wrong", run->verdict.wrong);
    struct json *shape = json_list(j, "shape");
    int64_t sizes[] = {in->problem.B,  in->problem.Hq, in->problem.Hkv,
                       in->problem.Nq, in->problem.Nk, in->problem.D};
    for (int i = 0; i < 6; i++)
        json_whole(shape, NULL, sizes[i]);
}

static void add_text(struct report *r, const struct battery_case *c, const char *verdict,
                     const struct battery_run *run)
{
    char *text = NULL;
    if (run->ran && run->passed)
        return;
    text_append(&text, " %-20s ", c->name);
    text_wrapped(&text, 22, 22, verdict[0] == 'f' ? run->sentence : verdict);
    if (run->ran && run->verdict.first[0] != 0)
        text_append(&text, "%22s%s\n", "", run->verdict.first);
    if (run->ran) {
        text_append(&text, "%22s", "");
        text_wrapped(&text, 22, 22, c->meaning);
    }
    report_text(r, "%s", text);
    free(text);
}

static void record(struct report *r, struct json *list, const struct battery_case *c,
                   const struct battery_run *run, const struct battery_input *in,
                   struct counts *counts)
{
    const char *verdict = !run->ran ? "not tested" : run->passed ? "passed" : "failed";
    add_json(list, c, verdict, run, in);
    report_row(r, "%s\t%s\t%s\t%s", c->name, verdict, run->sentence,
               run->ran ? run->verdict.first : "");
    counts->untested += !run->ran;
    counts->passed += run->ran && run->passed;
    counts->failed += run->ran && !run->passed;
    if (run->ran)
        add_text(r, c, verdict, run);
}

static bool run_case(struct report *r, struct json *list, const struct request *q, int n,
                     struct counts *counts, struct message *why)
{
    const struct battery_case *c = battery_case(n);
    const char *lacks = battery_lacks(&q->command, c);
    struct battery_run run = {0};
    struct battery_input in = {0};
    if (lacks != NULL)
        snprintf(run.sentence, sizeof run.sentence, "the command has no %s", lacks);
    else if (c->D != 0 && c->D != q->dim && q->dim_given)
        snprintf(run.sentence, sizeof run.sentence, "--dim names the one head size");
    else if (!battery_input(c, q->dtype, q->dim, q->seed, &in, why)) {
        battery_input_free(&in);
        return false;
    } else if (!q->command.has_o && !battery_has_gradients(&in))
        snprintf(run.sentence, sizeof run.sentence, "the case has no gradients that are judged");
    else if (!battery_run(&q->command, &in, &q->limits, q->folder, &run, why)) {
        battery_input_free(&in);
        return false;
    }
    if (run.missing && counts->passed + counts->failed == 0) {
        battery_input_free(&in);
        return refuse(why, "the command cannot be run: %.400s", run.sentence);
    }
    record(r, list, c, &run, &in, counts);
    battery_input_free(&in);
    return true;
}

static void conclude(struct report *r, const struct request *q, const struct counts *counts)
{
    bool whole = counts->failed == 0 && counts->passed > 0;
    report_text(r, "%s %d passed, %d failed, %d not tested   seed %" PRIu64 ", %s, D %" PRId64 "\n",
                counts->failed > 0 ? "\n" : "", counts->passed, counts->failed, counts->untested,
                q->seed, format_info(q->dtype)->name, q->dim);
    if (counts->untested > 0)
        report_text(r,
                    " not tested: what the command has no place for ({causal} {window} "
                    "{softcap} ...)%s\n",
                    q->command.has_o ? "" : ", no gradients");
    if (!whole)
        report_text(r, "exit 1\n");
    json_string(r->json, "verdict", whole ? "passed" : "failed");
    json_whole(r->json, "passed", counts->passed);
    json_whole(r->json, "failed", counts->failed);
    json_whole(r->json, "not_tested", counts->untested);
    json_whole(r->json, "seed", (int64_t)q->seed);
}

static bool answer(struct report *r, struct request *q, struct counts *counts, struct message *why)
{
    struct json *list = json_list(r->json, "cases");
    int total = 0;
    while (battery_case(total) != NULL)
        total++;
    report_row(r, "case\tverdict\tsentence\tfirst difference");
    for (int n = 0; n < total; n++) {
        cli_progress("battery", n, total);
        if (!named(q->cases, battery_case(n)->name))
            continue;
        if (!run_case(r, list, q, n, counts, why))
            return false;
    }
    cli_progress("battery", total, total);
    conclude(r, q, counts);
    return true;
}

/* A folder only this run can read, and nothing left of it afterwards. */
static bool folder_make(struct request *q, struct message *why)
{
    const char *above = getenv("TMPDIR");
    snprintf(q->folder, sizeof q->folder, "%.400s/flashulp-XXXXXX",
             above != NULL && above[0] != 0 ? above : "/tmp");
    return mkdtemp(q->folder) != NULL || refuse(why, "%s: cannot be created", q->folder);
}

static void folder_remove(const struct request *q)
{
    static const char *const names[] = {"q", "k", "v", "o", "lse", "do", "dq", "dk", "dv"};
    char path[1024];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s.npy", q->folder, names[i]);
        unlink(path);
    }
    rmdir(q->folder);
}

int cli_battery(int argc, char **argv)
{
    struct scenario s;
    struct request q;
    struct report r;
    struct message why;
    struct counts counts = {0};
    int status = 0;
    if (!cli_scenario(&s, COMMAND_BATTERY, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!read_request(&s, &q, &why) || !report_check_outputs(&s, "json md csv", NULL, 0, &why) ||
        !folder_make(&q, &why)) {
        status = cli_refused("battery", &why);
    } else {
        bool ok = answer(&r, &q, &counts, &why) && report_finish(&r, &why);
        status = !ok ? cli_refused("battery", &why) : counts.failed > 0 || counts.passed == 0;
        folder_remove(&q);
    }
    report_free(&r);
    scenario_free(&s);
    return status;
}
