/* audit.c: `flashulp audit PROBLEM --runs a,b,...`: models and measured outputs against the
   certified result: how far, which rounding moved them, inside the bound or not.

   Exit 0: LEGAL.  Exit 1: some output is outside the bound, or for some run no bound is known. */
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"
#include "simulator/cli/cli.h"
#include "simulator/scenario_parts.h"

static const double PATIENCE = 16; /* seconds of one core for attribution, and as many again */

static void progress(int64_t done, int64_t total)
{
    cli_progress("audit", done, total);
}

static void searching(int64_t done, int64_t total)
{
    cli_progress("audit: searching", done, total);
}

/* By measurement, on one core. */
static double expected_seconds(const struct audit *a)
{
    const struct selection *s = &a->selection;
    return (double)s->rows * (double)a->in.problem.Nk * (4e-6 + 2e-7 * (double)s->dims) /
           (double)a->threads;
}

static bool read_groups(const struct scenario *s, int64_t *groups, struct message *why)
{
    const char *text = s->value[OPTION_ATTRIBUTE];
    *groups = -1;
    return text == NULL || parse_integer("--attribute", text, 0, INT64_MAX, groups, why);
}

static bool answer(struct report *r, struct audit *a, struct findings *f, const struct scenario *s,
                   struct message *why)
{
    int64_t groups;
    struct audit_map map;
    if (!read_groups(s, &groups, why) || !audit_new(a, s, why))
        return false;
    cli_expect("audit", expected_seconds(a));
    if (!audit_judge(a, progress, why) || !audit_attribute(a, groups, PATIENCE, progress, why) ||
        !audit_find(a, f, searching, why))
        return false;
    memset(&map, 0, sizeof map);
    if (a->runs > 1 && !audit_map(a, &map, why))
        return false;
    audit_json(r, a, f);
    audit_map_json(r, a, &map);
    audit_say(r, a, &map, f);
    audit_page(r, a, &map);
    return true;
}

int cli_audit(int argc, char **argv)
{
    struct scenario s;
    struct audit a = {0};
    struct findings f = {0};
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_AUDIT, argc, argv, &status))
        return status;
    report_new(&r, &s);
    r.page = page_new("flashulp audit");
    if (!report_check_outputs(&s, "html md json csv svg", NULL, 0, &why) ||
        !cli_check_figure(&s, "map errors sites", &why) ||
        !answer(&r, &a, &f, &s, &why) || !report_finish(&r, &why))
        status = cli_refused("audit", &why);
    else
        status = audit_verdict(&a) == AUDIT_LEGAL && findings_good(&f) ? 0 : 1;
    findings_free(&f);
    audit_free(&a);
    report_free(&r);
    scenario_free(&s);
    return status;
}
