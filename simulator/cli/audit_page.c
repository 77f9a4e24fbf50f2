/* audit_page.c: the audit as a page to attach to a ticket: verdict, tables, the map, what is not
   established, the command, the version and the SHA-256 of what was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/sha256.h"
#include "simulator/audit_parts.h"
#include "simulator/cli/audit.h"
#include "simulator/cli/cli.h"
#include "simulator/dump.h"
#include "simulator/scenario_parts.h"

static void add_runs(struct report *r)
{
    const char *rows = strchr(r->table, '\n') + 1;
    page_heading(r->page, 2, "Runs");
    page_rows(page_table(r->page, "run\tsource\tgroups\t>elements\t>max ulp\t>mean signed ulp\t"
                                  ">correctly rounded\t>inside bound\tverdict"),
              rows);
}

static bool file_sha256(const char *path, struct sha256_text *digest)
{
    static unsigned char block[1 << 16];
    struct sha256 sum;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    sha256_start(&sum);
    for (size_t count; (count = fread(block, 1, sizeof block, file)) > 0;)
        sha256_add(&sum, block, count);
    bool ok = ferror(file) == 0;
    fclose(file);
    *digest = sha256_end(&sum);
    return ok;
}

/* Of a dumped call: all it consists of. */
static void add_file(struct report *r, const char *path)
{
    static const char *const parts[] = {"metadata.jsonl", "inputs.safetensors",
                                        "outputs.safetensors"};
    struct sha256_text digest;
    struct message ignored;
    char *call = is_folder(path) ? dump_find_call(path, &ignored) : NULL;
    for (int i = 0; i < 3 && call != NULL; i++) {
        char *part = NULL;
        text_append(&part, "%s/%s", call, parts[i]);
        if (file_sha256(part, &digest))
            page_footer(r->page, "input", "%s: sha256 %s", part, digest.text);
        free(part);
    }
    free(call);
    if (is_folder(path))
        return;
    if (file_sha256(path, &digest))
        page_footer(r->page, "input", "%s: sha256 %s", path, digest.text);
    else
        page_footer(r->page, "input", "%s: could not be read again", path);
}

static void add_inputs(struct report *r, const struct audit *a)
{
    static const enum option files[] = {OPTION_Q, OPTION_K, OPTION_V};
    char *path = audit_capture_path(a->scenario);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (a->scenario->value[files[i]] != NULL)
            add_file(r, a->scenario->value[files[i]]);
    for (int n = 0; n < a->runs; n++)
        if (strncmp(a->run[n].name, "file:", 5) == 0)
            add_file(r, a->run[n].what);
    if (path != NULL)
        add_file(r, path);
    else if (a->in_example)
        page_footer(r->page, "input", "example %s: part of the program", a->in.name);
    free(path);
}

static void add_unknowns(struct report *r, const struct audit *a, const struct audit_map *m)
{
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        if (run->measured && audit_reproduced(a, n) < 0)
            page_not_established(r->page,
                                 "%s: which rounding moved it; no model among these runs "
                                 "has its bits",
                                 run->name);
        if (!run->bounded)
            page_not_established(r->page, "%s: a bound; %s", run->name, run->unbounded);
        if (run->rows_averaged < AUDIT_FEW_ROWS)
            page_not_established(r->page, "%s: whether its mean is biased; %s rows are too few",
                                 run->name, grouped(run->rows_averaged).text);
        if (!run->measured && run->sites.rows < a->selection.rows)
            page_not_established(
                r->page, "%s: the sites of %s of %s rows, which were not looked at", run->name,
                grouped(a->selection.rows - run->sites.rows).text, grouped(a->selection.rows).text);
        for (int i = 0; i < n && a->runs > 1; i++)
            if (m->cannot_tell[i][n])
                page_not_established(r->page,
                                     "whether %s and %s differ on hardware: their models "
                                     "coincide here",
                                     a->run[i].name, run->name);
    }
    page_not_established(r->page, "which run is the better one: another input may favour another");
}

/* Without --figure the map; where there is none, the others. */
static void add_picture(struct report *r, const struct audit *a, const struct audit_map *m)
{
    const struct scenario *s = r->scenario;
    bool map = cli_draws(s, "map") && audit_map_page(report_picture(r), a, m);
    bool others = s->value[OPTION_FIGURE] != NULL || !map;
    if (others && cli_draws(s, "errors"))
        audit_draw_errors(report_picture(r), a);
    if (others && cli_draws(s, "sites"))
        audit_draw_sites(report_picture(r), a);
}

void audit_page(struct report *r, const struct audit *a, const struct audit_map *m)
{
    char *verdict = NULL;
    audit_verdict_words(&verdict, a);
    page_headline(r->page, "%s", verdict);
    page_lines(r->page, r->text);
    add_runs(r);
    audit_draw_errors(r->page, a);
    audit_draw_sites(r->page, a);
    page_heading(r->page, 2, "Map");
    if (!audit_map_page(r->page, a, m))
        page_paragraph(r->page, "Nothing to draw: fewer than two runs that differ.");
    add_unknowns(r, a, m);
    add_inputs(r, a);
    cli_sign(r);
    free(verdict);
    add_picture(r, a, m);
}
