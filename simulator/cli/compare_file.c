/* compare_file.c: one pair of files: their tensors matched by name, read in blocks and compared.

   Their SHA-256 are taken of the same blocks by other threads meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

enum { GOT, WANT, EXACT, SIDES };
static const char *const side_names[SIDES] = {"got", "want", "exact"};

/* Names come from files: cut, and what is not printable as '?'. */
static void fit_for_terminal(char *label, size_t room, const char *name)
{
    snprintf(label, room, "%.*s", (int)room - 1, name);
    for (char *at = label; *at != 0; at++)
        if (*at < 32 || *at > 126)
            *at = '?';
}

char *compare_printable(const char *path)
{
    char *text = NULL;
    text_append(&text, "%s", path);
    for (char *at = text; *at != 0; at++)
        if ((unsigned char)*at < 32 || *at == 127)
            *at = '?';
    return text;
}

static int find(const struct tensor_file *f, const char *name)
{
    for (int i = 0; i < f->bundle.count; i++)
        if (f->single || name[0] == 0 || strcmp(f->bundle.tensors[i].name, name) == 0)
            return i;
    return -1;
}

static bool compare_tensor(struct compare_job *job, const struct tensor_file file[SIDES], int n,
                           struct json *tensors, struct message *why)
{
    struct compare_pair p = {.job = job, .name = file[GOT].bundle.tensors[n].name};
    fit_for_terminal(p.label, sizeof p.label, p.name);
    int w = find(&file[WANT], p.name), e = -1;
    int rank = file[WANT].bundle.tensors[w].tensor.rank;
    bool swapped = job->scenario->given[OPTION_TRANSPOSE];
    if (file[EXACT].source != NULL && (e = find(&file[EXACT], p.name)) < 0)
        return refuse(why, "--exact %.300s: no tensor %s", file[EXACT].path, p.label);
    if (swapped && rank < 3)
        return refuse(why, "--transpose: %s has rank %d; 3 or 4 is right", file[WANT].path, rank);
    bool ok = tensor_stream_open(&p.got, &file[GOT], n, false, why) &&
              tensor_stream_open(&p.want, &file[WANT], w, swapped, why) &&
              (e < 0 || tensor_stream_open(&p.exact, &file[EXACT], e, false, why)) &&
              compare_measure(&p, json_object(tensors, NULL), why);
    tensor_stream_close(&p.got);
    tensor_stream_close(&p.want);
    tensor_stream_close(&p.exact);
    return ok;
}

/* Names that one of the two lacks are said first: they are differences. */
static void say_missing(struct compare_job *job, const struct tensor_file *in,
                        const struct tensor_file *lacking, struct json *list, const char *side)
{
    for (int i = 0; i < in->bundle.count; i++) {
        const char *name = in->bundle.tensors[i].name;
        if (find(lacking, name) >= 0)
            continue;
        struct json *j = json_object(list, NULL);
        char label[64];
        fit_for_terminal(label, sizeof label, name);
        text_append(&job->text, "%s   is only in %s\n", label, side);
        page_not_established(job->report->page, "%s of %s: it is only in %s", name, in->path, side);
        json_string(j, "name", name);
        json_string(j, "only_in", side);
        job->missing++;
    }
}

static bool compare_tensors(struct compare_job *job, const struct tensor_file file[SIDES],
                            struct json *to, struct message *why)
{
    const struct tensor_file *g = &file[GOT], *w = &file[WANT];
    const struct tensor_file *one = g->single ? g : w, *several = g->single ? w : g;
    struct json *missing = json_list(to, "missing"), *tensors = json_list(to, "tensors");
    if (g->single != w->single && several->bundle.count != 1)
        return refuse(why,
                      "%.200s holds one tensor without a name, %.200s %d with names; two files "
                      "of a kind are right",
                      one->path, several->path, several->bundle.count);
    say_missing(job, g, w, missing, "GOT");
    say_missing(job, w, g, missing, "WANT");
    for (int i = 0; i < g->bundle.count && compare_goes_on(job); i++)
        if (find(w, g->bundle.tensors[i].name) >= 0 && !compare_tensor(job, file, i, tensors, why))
            return false;
    return true;
}

/* "1,16,1,256 bf16 (uint16 taken as bf16 bits)", malloc'ed. */
static char *what_is_in(const struct tensor_file *f)
{
    struct tensor_stream s;
    struct message unused;
    char *text = NULL;
    if (f->single && tensor_stream_open(&s, f, 0, false, &unused)) {
        text_append(&text, "%s", shape_and_dtype(&s).text);
        tensor_stream_close(&s);
    } else {
        text_append(&text, "%d tensors", f->bundle.count);
    }
    if (f->took.text[0] != 0)
        text_append(&text, " (%s)", f->took.text);
    return text;
}

/* "got   o.npy   1,16,1,256 bf16" and its digest. */
static void say_file(struct compare_job *job, struct json *to, int side,
                     const struct tensor_file *f, const char *digest, struct page_block *table)
{
    struct report *r = job->report;
    struct json *j = json_object(to, side_names[side]);
    char *path = compare_printable(f->path), *what = what_is_in(f);
    report_text(r, "%-5s %s   %s\n      sha256 %s\n", side_names[side], path, what,
                digest);
    page_cell(table, "%s", side_names[side]);
    page_cell(table, "%s", f->path);
    page_cell(table, "%s", what);
    page_footer(r->page, "input", "%s: sha256 %s", f->path, digest);
    json_string(j, "file", f->path);
    json_string(j, "sha256", digest);
    if (f->took.text[0] != 0)
        json_string(j, "took", f->took.text);
    free(path);
    free(what);
}

/* The files are said first, though their digests are known only when all is read. */
static bool compare_open(struct compare_job *job, const struct tensor_file file[SIDES],
                         struct message *why)
{
    struct json *to = json_object(job->files, NULL);
    struct sha256_text digest[SIDES];
    struct page *page = job->report->page;
    const bool exact = file[EXACT].source != NULL;
    page_heading(page, 2, "%s against %s", file[GOT].path, file[WANT].path);
    struct page_block *table = page_table(page, "side\tfile\tholds");
    if ((job->hashing = hashing_start(&file[GOT], &file[WANT], why)) == NULL)
        return false;
    bool ok = compare_tensors(job, file, to, why);
    if (ok)
        ok = hashing_end(job->hashing, digest, why);
    else
        hashing_abandon(job->hashing);
    job->hashing = NULL;
    ok = ok && (!exact || tensor_file_sha256(&file[EXACT], &digest[EXACT], why));
    for (int i = 0; ok && i < (exact ? SIDES : EXACT); i++)
        say_file(job, to, i, &file[i], digest[i].text, table);
    if (ok)
        report_text(job->report, "\n%s", job->text != NULL ? job->text : "");
    free(job->text);
    job->text = NULL;
    return ok;
}

bool compare_files(struct compare_job *job, const char *got, const char *want, const char *exact,
                   struct message *why)
{
    const char *path[SIDES] = {got, want, exact};
    struct tensor_file file[SIDES] = {0};
    bool ok = true;
    for (int i = 0; ok && i < SIDES && path[i] != NULL; i++)
        ok = tensor_file_open(&file[i], path[i], job->words, why);
    ok = ok && compare_open(job, file, why);
    for (int i = 0; i < SIDES; i++)
        tensor_file_close(&file[i]);
    return ok;
}
