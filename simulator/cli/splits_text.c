/* splits_text.c: one launch as a page: the table, why, the picture, which devices group alike. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

enum { INDENT = 10, WIDTH = 80 };

void splits_words(struct report *r, const char *label, const char *words)
{
    report_text(r, " %-*s", INDENT - 1, label);
    text_wrapped(&r->text, INDENT, INDENT, words);
}

void splits_says(struct report *r, const struct splits_request *q, enum split_text what,
                 const char *label)
{
    const char *text;
    for (int n = 0; (text = split_says(q->rule, what, n)) != NULL; n++)
        splits_words(r, n == 0 ? label : "", text);
}

/* Pieces `gap` blanks apart, broken where a line is full. */
struct flow {
    char **text;
    int column, gap, indent; /* column 0: nothing on the line yet */
};

static void piece(struct flow *f, const char *words)
{
    int length = (int)strlen(words), gap = f->column > f->indent ? f->gap : 0;
    if (f->column + gap + length > WIDTH) {
        text_append(f->text, "\n%*s", f->indent, "");
        f->column = f->indent;
        gap = 0;
    }
    text_append(f->text, "%*s%s", gap, "", words);
    f->column += gap + length;
}

static void piece_of(struct flow *f, char *words)
{
    piece(f, words);
    free(words);
}

static char *heads_text(const struct launch *l)
{
    char *words = NULL;
    if (l->heads_q != l->heads_kv)
        text_append(&words, "%" PRId64 " query, ", l->heads_q);
    text_append(&words, "%" PRId64 " KV head%s", l->heads_kv, l->heads_kv == 1 ? "" : "s");
    return words;
}

static char *blocks_text(const char *what, int64_t tokens, const struct split_plan *p)
{
    char *words = NULL;
    text_append(&words, "%s%s tokens = %s block%s of %" PRId64, what, grouped(tokens).text,
                grouped((tokens + p->block_tokens - 1) / p->block_tokens).text,
                tokens > 0 && tokens <= p->block_tokens ? "" : "s", p->block_tokens);
    return words;
}

void splits_headline(const struct splits_request *q, const struct split_plan *p, char **text)
{
    const struct launch *l = &q->launch;
    char *words = NULL;
    struct flow flow = {text, 0, 3, 0};
    text_append(&words, "%s%s%s", split_rule_info(q->rule)->name, q->version[0] != 0 ? " " : "",
                q->version[0] != 0 ? p->version : "");
    piece_of(&flow, words);
    if (q->workload == WORKLOAD_COUNT) {
        piece_of(&flow, blocks_text(q->lens != NULL ? "longest " : "", l->longest, p));
        if (l->capacity > 0)
            piece_of(&flow, blocks_text("cache ", l->capacity, p));
    }
    words = NULL;
    text_append(&words, "batch %s", grouped(l->batch).text);
    piece_of(&flow, words);
    if (l->len_q > 1) {
        words = NULL;
        text_append(&words, "%s queries", grouped(l->len_q).text);
        piece_of(&flow, words);
    }
    piece_of(&flow, heads_text(l));
    words = NULL;
    text_append(&words, "d %" PRId64, l->dim);
    piece_of(&flow, words);
    text_append(text, "\n");
}

static int64_t last_tokens(const struct split_plan *p, int64_t length)
{
    int live = split_live(p, length);
    return live > 0 ? split_tokens(p, length, live - 1) : 0;
}

static void table_row(struct splits_page *page, int d)
{
    const struct split_plan *p = &page->plan[d];
    const struct split_weighing *w = &p->weighing;
    const struct device_record *device = &page->request->device[d];
    int64_t length = page->request->launch.longest;
    struct report *r = page->report;
    char slots[48] = "", sms[16] = "-";
    if (device_sms(device) > 0)
        snprintf(sms, sizeof sms, "%d", device_sms(device));
    report_text(r, " %-13.24s %4s %7d %7" PRId64 " %7" PRId64 " %7" PRId64, device->name, sms,
                p->splits, p->blocks_per_split, p->blocks_per_split * p->block_tokens,
                last_tokens(p, length));
    if (p->rule == SPLIT_RULE_FA2_SPLIT) {
        snprintf(slots, sizeof slots, "%" PRId64 "/%" PRId64, w->work * p->splits, w->capacity);
        report_text(r, " %10s", slots);
        if (w->best > 0)
            report_text(r, "   %.3f   %.3f", (double)w->efficiency, w->needed);
    } else {
        report_text(r, " %7d", split_live(p, length));
    }
    report_text(r, "\n");
    report_row(r, "%s\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%d", device->name, sms,
               p->splits, p->blocks_per_split, p->blocks_per_split * p->block_tokens,
               last_tokens(p, length), split_live(p, length));
}

static void print_table(struct splits_page *page)
{
    bool fa2 = page->request->rule == SPLIT_RULE_FA2_SPLIT;
    report_text(page->report, "\n device         SMs  splits  blocks  tokens    last %s\n",
                fa2 ? "  work/cap     eff   needs" : "   live");
    report_row(page->report, "device\tSMs\tsplits\tblocks\ttokens\tlast\tlive");
    for (int d = 0; d < page->request->devices; d++)
        table_row(page, d);
    if (page->plan[0].order == GROUPS_ROUND_ROBIN)
        report_text(page->report, " blocks, tokens: of a group, at most;  last: tokens of the last "
                                  "group\n");
}

/* Sequences of different lengths: groups of each, tokens of a group, of the last. */
static void print_lens(struct splits_page *page)
{
    enum { SHOWN = 24 };
    const struct splits_request *q = page->request;
    struct report *r = page->report;
    int devices = q->devices < 3 ? q->devices : 3;
    if (q->lens == NULL)
        return;
    report_text(r, "\n sequence     tokens");
    for (int d = 0; d < devices; d++)
        report_text(r, "  %18.18s", q->device[d].name);
    report_text(r, "\n");
    for (int64_t i = 0; i < q->len_count && i < SHOWN; i++) {
        report_text(r, " %8" PRId64 " %10s", i, grouped(q->lens[i]).text);
        for (int d = 0; d < devices; d++) {
            char cell[64];
            const struct split_plan *p = &page->plan[d];
            snprintf(cell, sizeof cell, "%d x %" PRId64 ", %" PRId64, split_live(p, q->lens[i]),
                     split_live(p, q->lens[i]) > 0 ? split_tokens(p, q->lens[i], 0) : 0,
                     last_tokens(p, q->lens[i]));
            report_text(r, "  %18s", cell);
        }
        report_text(r, "\n");
    }
    if (q->len_count > SHOWN)
        report_text(r, " ... and %s more: --json\n", grouped(q->len_count - SHOWN).text);
    report_text(r, " groups that have tokens x tokens of the first, tokens of the last\n");
}

static void print_why(struct splits_page *page)
{
    const struct splits_request *q = page->request;
    for (int d = 0; d < q->devices && d < 4; d++) {
        char *reason = NULL, label[24];
        struct launch l = q->launch;
        l.sms = device_sms(&q->device[d]);
        text_append(&reason, "%s: ", q->device[d].name);
        split_reason(&page->plan[d], &l, &reason);
        text_append(&reason, ".");
        snprintf(label, sizeof label, "why %d", page->plan[d].splits);
        splits_words(page->report, label, reason);
        free(reason);
    }
}

/* Where contiguous groups meet: pair by pair, then all. */
static void say_shared(char **text, const char *who, int64_t every, int64_t length)
{
    if (every == 0)
        text_append(text, "%s share no boundary. ", who);
    else if (2 * every >= length)
        text_append(text, "%s share one boundary, at %s. ", who, grouped(every).text);
    else
        text_append(text, "%s share a boundary every %s tokens. ", who, grouped(every).text);
}

static void print_shared(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    const struct split_plan *all[STUDY_DEVICES];
    char *text = NULL, who[160];
    int64_t length = q->launch.longest;
    for (int a = 0; a < q->devices; a++) {
        all[a] = &page->plan[a];
        for (int b = a + 1; b < q->devices && q->devices <= 4; b++) {
            const struct split_plan *pair[] = {&page->plan[a], &page->plan[b]};
            if (split_alike(pair[0], pair[1], length))
                continue;
            snprintf(who, sizeof who, "%s and %s", q->device[a].name, q->device[b].name);
            say_shared(&text, who, split_shared(pair, 2, length), length);
        }
    }
    if (q->devices > 2 && (text != NULL || q->devices > 4))
        say_shared(&text, q->devices == 3 ? "All three" : "All together",
                   split_shared(all, q->devices, length), length);
    if (text != NULL && page->plan[0].order == GROUPS_CONTIGUOUS) {
        text[strlen(text) - 1] = 0;
        report_text(page->report, " ");
        text_wrapped(&page->report->text, 1, 1, text);
    }
    free(text);
}

static const char *alike_word(const struct splits_page *page, int a, int b)
{
    if (!split_certain(&page->plan[a], &page->plan[b]))
        return "not established";
    return split_alike(&page->plan[a], &page->plan[b], page->request->launch.longest) ? "yes"
                                                                                      : "no";
}

static void print_pairs(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    struct report *r = page->report;
    struct flow flow = {&r->text, 15, 4, 15};
    bool yes = false, no = false;
    if (q->devices < 2)
        return;
    report_text(r, "\n same groups?  ");
    for (int a = 0; a < q->devices; a++)
        for (int b = a + 1; b < q->devices; b++) {
            const char *word = alike_word(page, a, b);
            char *cell = NULL;
            yes = yes || strcmp(word, "yes") == 0;
            no = no || strcmp(word, "no") == 0;
            text_append(&cell, "%s = %s: %s", q->device[a].name, q->device[b].name, word);
            piece_of(&flow, cell);
        }
    report_text(r, "\n");
    if (no)
        report_text(r, " Different groups may still give equal bits on one input.\n");
    if (yes)
        report_text(r, " Same groups are needed for the same bits, and not enough: build, tensor\n "
                       "core and special functions count too.\n");
}

void splits_text(struct splits_page *page)
{
    struct report *r = page->report;
    const struct splits_request *q = page->request;
    splits_headline(q, &page->plan[0], &r->text);
    print_table(page);
    print_lens(page);
    report_text(r, "\n");
    splits_says(r, q, SPLIT_WHY, "rule");
    print_why(page);
    splits_words(r, "length", split_rule_info(q->rule)->length);
    report_text(r, "\n");
    splits_picture(page, &r->text);
    print_shared(page);
    print_pairs(page);
    report_text(r, "\n");
    splits_says(r, q, SPLIT_EVIDENCE, "evidence");
    splits_says(r, q, SPLIT_CAUTION, "caution");
}
