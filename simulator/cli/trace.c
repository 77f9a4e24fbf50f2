/* trace.c: `flashulp trace`: records a run, or reads a recorded one; writes .trace, Perfetto JSON
   or text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

static bool read_detail(const struct scenario *s, enum trace_detail *detail, struct message *why)
{
    static const char *const names[3] = {"none", "stats", "all"};
    const char *text = s->value[OPTION_SNAPSHOTS];
    *detail = TRACE_STATS;
    if (text == NULL)
        return true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *detail = (enum trace_detail)i;
            return true;
        }
    }
    return refuse(why, "--snapshots %.40s: none, stats or all is right", text);
}

/* A recorded one, or a run; the exact twin walks beside wherever values are kept. */
static struct trace *get_trace(const struct scenario *s, enum trace_detail detail,
                               struct message *why)
{
    if (s->problem != NULL && ends_with(s->problem, ".trace"))
        return trace_read(s->problem, why);
    return scenario_trace(s, detail, detail != TRACE_EVENTS, why);
}

static bool write_files(const struct scenario *s, struct report *r, const struct trace *t,
                        struct message *why)
{
    const char *perfetto = s->value[OPTION_PERFETTO];
    bool force = s->given[OPTION_FORCE];
    char *path;
    for (int n = 0; (path = report_output(s, n)) != NULL; n++) {
        report_making(r, path);
        bool ok = trace_write(t, path, force, why);
        free(path);
        if (!ok)
            return false;
    }
    if (perfetto == NULL)
        return true;
    report_making(r, perfetto);
    return trace_write_perfetto(t, perfetto, force, why);
}

static void describe(struct report *r, const struct trace *t)
{
    static const char *const keys[] = {"command", "problem", "algorithm", "policy", "device"};
    struct json *meta = json_object(r->json, "meta");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = trace_meta(t, keys[i]);
        if (value == NULL)
            continue;
        report_text(r, "%-10s %s\n", keys[i], value);
        json_string(meta, keys[i], value);
    }
    report_text(r, "%-10s %s\n", "events", grouped((int64_t)trace_count(t)).text);
    json_whole(r->json, "events", (int64_t)trace_count(t));
}

static bool finish(const struct scenario *s, struct report *r, const struct trace *t,
                   struct message *why)
{
    bool text = s->given[OPTION_DUMP] ||
                (!s->given[OPTION_OUTPUT] && !s->given[OPTION_PERFETTO] && !s->given[OPTION_JSON]);
    describe(r, t);
    if (!write_files(s, r, t, why))
        return false;
    if (s->given[OPTION_JSON]) {
        char *json = json_text(r->json);
        printf("%s\n", json);
        free(json);
    } else if (text) {
        trace_dump(t, stdout);
    } else {
        fputs(r->text, stdout);
    }
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    return refuse(why, "the output cannot be written: %s", strerror(errno != 0 ? errno : EIO));
}

static bool trace_it(const struct scenario *s, struct report *r, struct message *why)
{
    static const enum option files[] = {OPTION_PERFETTO};
    enum trace_detail detail;
    if (s->given[OPTION_DUMP] && s->given[OPTION_JSON])
        return refuse(why, "--dump and --json each choose the output; one is right");
    if (!report_check_outputs(s, "trace", files, 1, why) || !read_detail(s, &detail, why))
        return false;
    struct trace *t = get_trace(s, detail, why);
    if (t == NULL)
        return false;
    bool ok = finish(s, r, t, why);
    if (!ok)
        report_undo(r);
    trace_free(t);
    return ok;
}

int cli_trace(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_TRACE, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!trace_it(&s, &r, &why))
        status = cli_refused("trace", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
