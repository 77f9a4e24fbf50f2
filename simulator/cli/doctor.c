/* doctor.c: `flashulp doctor`: what this build is, what it lacks and the command that mends it, and
   whether it computes the recorded bits.  Exit 1: some digest differs. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/selftest.h"
#include "simulator/cpu.h"
#include "simulator/data.h"
#include "simulator/examples.h"
#include "simulator/flashulp.h"
#include "simulator/inputs.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

#if defined __clang__
static const char compiler[] = "clang " __clang_version__;
#elif defined __GNUC__
static const char compiler[] = "gcc " __VERSION__;
#else
static const char compiler[] = "unknown compiler";
#endif

static void add_machine(struct report *r)
{
    struct utsname system;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    const char *level = cpu_level_name(cpu_level()), *revision = cli_revision();
    int words = (int)strcspn(compiler, "(") - (strchr(compiler, '(') != NULL);
    if (uname(&system) < 0)
        memset(&system, 0, sizeof system);
    report_text(r, "flashulp %s (%s)   %s %s   %.*s   %ld thread%s   level %s\n",
                flashulp_version(), revision[0] != 0 ? revision : "revision unknown",
                system.sysname, system.machine, words, compiler, threads, threads == 1 ? "" : "s",
                level);
    json_string(r->json, "version", flashulp_version());
    json_string(r->json, "revision", revision);
    json_string(r->json, "system", system.sysname);
    json_string(r->json, "machine", system.machine);
    json_string(r->json, "compiler", compiler);
    json_whole(r->json, "threads", threads);
    json_string(r->json, "level", level);
    report_row(r, "part\tstate\tdetail");
}

/* One part of the program: built or not, and what to say about it. */
static void add_part(struct report *r, struct json *parts, const char *name, bool built,
                     const char *detail)
{
    enum { COLUMN = 16 };
    struct json *j = json_object(parts, NULL);
    json_string(j, "name", name);
    json_truth(j, "built", built);
    json_string(j, "detail", detail);
    report_text(r, " %-8s %-6s", name, built ? "yes" : "no");
    text_wrapped(&r->text, COLUMN, COLUMN, detail);
    report_row(r, "%s\t%s\t%s", name, built ? "yes" : "no", detail);
}

static void add_core(struct report *r, struct json *parts)
{
    char detail[160];
    snprintf(detail, sizeof detail, "MPFR %s, GSL %s, cJSON %s", arith_mpfr_version(),
             inputs_gsl_version(), report_cjson_version());
    add_part(r, parts, "core", true, detail);
}

/* The captures: where they lie, or where they were looked for. */
static void add_data(struct report *r, struct json *parts)
{
    struct message why;
    char *path = data_file(example_info(EXAMPLE_MINILM_4)->file, &why);
    char *text = NULL, *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL)
        text_append(&text, "real Q, K, V in %.*s", (int)(slash - path), path);
    else
        text_append(&text, "%s", why.text);
    add_part(r, parts, "data", path != NULL, text);
    free(text);
    free(path);
}

/* The programs that lie beside this one when their part was built. */
static void add_siblings(struct report *r, struct json *parts)
{
    static const struct {
        const char *name, *program, *otherwise;
    } siblings[] = {{"viewer", "flashulp-view", "is built where libsdl2-dev and libpng-dev are"},
                    {"gpu", "flashulp-gpu", "is built where a C++ compiler is"},
                    {"device", "flashulp-gpu-device", "is built by make gpu, where nvcc is"},
                    {"labs", "flashulp-lab", "is built by make"}};
    for (size_t i = 0; i < sizeof siblings / sizeof siblings[0]; i++) {
        char folder[PATH_MAX], path[PATH_MAX + 32], detail[96];
        program_folder(folder);
        snprintf(path, sizeof path, "%s/%s", folder, siblings[i].program);
        bool built = folder[0] != 0 && access(path, X_OK) == 0;
        snprintf(detail, sizeof detail, built ? "%s" : "%s %s", siblings[i].program,
                 siblings[i].otherwise);
        add_part(r, parts, siblings[i].name, built, detail);
    }
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add_difference(struct report *r, struct json *differ, const struct selftest *t,
                           const char *got)
{
    struct json *j = json_object(differ, NULL);
    char *command = NULL, want[24];
    text_append(&command, "flashulp run %s", t->words);
    snprintf(want, sizeof want, "%016" PRIx64, t->want);
    json_string(j, "command", command);
    json_string(j, "want", want);
    json_string(j, "got", got);
    report_text(r, "          got %s, recorded %s:\n          %s\n", got, want, command);
    free(command);
}

/* Runs every recorded row; returns how many differ. */
static int add_bits(struct report *r)
{
    struct json *j = json_object(r->json, "self_test"), *differ = json_list(j, "differ");
    int rows = selftest_count(), wrong = 0;
    double start = seconds_now();
    struct report lines = {.text = NULL};
    for (int i = 0; i < rows; i++) {
        struct selftest t;
        struct message why;
        char got[24];
        bool ran = selftest_run(i, &t, &why);
        if (ran && t.got == t.want)
            continue;
        snprintf(got, sizeof got, "%016" PRIx64, t.got);
        add_difference(&lines, differ, &t, ran ? got : why.text);
        wrong++;
    }
    report_text(r, " %-8s %-6s%d of %d digests equal to the recorded ones    %.1f s\n", "bits",
                wrong == 0 ? "ok" : "WRONG", rows - wrong, rows, seconds_now() - start);
    if (lines.text != NULL)
        report_text(r, "%s", lines.text);
    report_row(r, "bits\t%s\t%d of %d", wrong == 0 ? "ok" : "wrong", rows - wrong, rows);
    json_whole(j, "digests", rows);
    json_whole(j, "equal", rows - wrong);
    free(lines.text);
    return wrong;
}

static bool answer(struct report *r, const struct scenario *s, int *status, struct message *why)
{
    if (s->problem != NULL)
        return refuse(why, "%.60s: doctor takes no problem", s->problem);
    add_machine(r);
    struct json *parts = json_list(r->json, "parts");
    add_core(r, parts);
    add_data(r, parts);
    add_siblings(r, parts);
    *status = add_bits(r) > 0;
    return true;
}

int cli_doctor(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_DOCTOR, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "json md csv", NULL, 0, &why) || !answer(&r, &s, &status, &why) ||
        !report_finish(&r, &why))
        status = cli_refused("doctor", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
