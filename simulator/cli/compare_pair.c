/* compare_pair.c: one pair of tensors: checked against each other, read in blocks, measured. */
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

enum { GOT, WANT, EXACT, SIDES };

/* Of the block buffers, in elements; a row of logits is never cut. */
enum { BLOCK = 1 << 16, MOST_LOGITS = 1 << 24 };

struct buffers {
    int64_t room;
    void *raw[HASHING_BLOCKS][2], *exact; /* codes as read; those of a block are hashed later */
    uint64_t offer[HASHING_BLOCKS];       /* what to wait for before they are overwritten */
    void *rounded[2];                     /* codes in the common format */
    double *value[SIDES];
};

static bool buffers_new(struct buffers *b, int64_t room, struct message *why)
{
    *b = (struct buffers){.room = room};
    const size_t bytes = (size_t)room * 8;
    bool ok = (b->exact = malloc(bytes)) != NULL;
    for (int i = 0; i < 2 * HASHING_BLOCKS; i++)
        ok &= (b->raw[i / 2][i % 2] = malloc(bytes)) != NULL;
    for (int i = 0; i < SIDES; i++)
        ok &= (b->value[i] = malloc(bytes)) != NULL;
    for (int i = 0; i < 2; i++)
        ok &= (b->rounded[i] = malloc(bytes)) != NULL;
    return ok ? true : refuse(why, "no memory for blocks of %s numbers", grouped(room).text);
}

static void buffers_free(struct buffers *b, struct hashing *h)
{
    for (int i = 0; i < HASHING_BLOCKS; i++)
        hashing_await(h, b->offer[i]);
    for (int i = 0; i < 2 * HASHING_BLOCKS; i++)
        free(b->raw[i / 2][i % 2]);
    for (int i = 0; i < SIDES; i++)
        free(b->value[i]);
    for (int i = 0; i < 2; i++)
        free(b->rounded[i]);
    free(b->exact);
}

/* The codes of one side in the common format. */
static const void *common_codes(struct compare_pair *p, struct buffers *b, int side,
                                const void *raw, int64_t count)
{
    const struct tensor_stream *s = side == GOT ? &p->got : &p->want;
    if (s->dtype == p->c.format)
        return raw;
    p->rounded[side] += compare_round(s->dtype, p->c.format, raw, count, b->rounded[side]);
    return b->rounded[side];
}

static void add_logits(struct compare_pair *p, struct buffers *b, const void *got, const void *want,
                       int64_t count)
{
    int64_t length = p->got.shape[p->got.rank - 1];
    compare_decode(p->c.format, got, count, b->value[GOT]);
    compare_decode(p->c.format, want, count, b->value[WANT]);
    for (int64_t at = 0; at < count; at += length)
        logits_add(&p->l, b->value[GOT] + at, b->value[WANT] + at, length);
}

/* Reads a block into the next of the buffers, and lets it be hashed. */
static bool add_block(struct compare_pair *p, struct buffers *b, int64_t first, int64_t count,
                      struct message *why)
{
    const int at = (int)(first / b->room % HASHING_BLOCKS);
    const struct tensor_stream *const side[2] = {&p->got, &p->want};
    struct hashing *h = p->job->hashing;
    hashing_await(h, b->offer[at]);
    if (!tensor_stream_read(&p->got, first, count, b->raw[at][GOT], why) ||
        !tensor_stream_read(&p->want, first, count, b->raw[at][WANT], why))
        return false;
    const void *const raw[2] = {b->raw[at][GOT], b->raw[at][WANT]};
    b->offer[at] = hashing_offer(h, side, raw, first, count);
    if (p->exact.file != NULL) {
        if (!tensor_stream_read(&p->exact, first, count, b->exact, why))
            return false;
        compare_decode(p->exact.dtype, b->exact, count, b->value[EXACT]);
    }
    const void *got = common_codes(p, b, GOT, raw[GOT], count);
    const void *want = common_codes(p, b, WANT, raw[WANT], count);
    compare_add(&p->c, got, want, b->value[EXACT], count);
    if (p->logits)
        add_logits(p, b, got, want, count);
    return true;
}

static bool run_blocks(struct compare_pair *p, struct message *why)
{
    struct buffers b;
    int64_t row = p->logits ? p->got.shape[p->got.rank - 1] : 1;
    int64_t room = row > BLOCK ? row : BLOCK / row * row;
    int64_t total = p->c.elements;
    room = total < room ? total + 1 : room;
    bool ok = buffers_new(&b, room, why);
    for (int64_t first = 0; ok && first < total; first += room) {
        int64_t count = total - first < room ? total - first : room;
        ok = add_block(p, &b, first, count, why);
        cli_progress("compare", first, total);
    }
    if (total > 0)
        cli_progress("compare", total, total);
    buffers_free(&b, p->job->hashing);
    if (ok)
        compare_end(&p->c);
    return ok;
}

static bool same_shape(const struct tensor_stream *a, const struct tensor_stream *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static bool refuse_shapes(const struct compare_pair *p, struct message *why)
{
    const struct tensor_stream *g = &p->got, *w = &p->want;
    struct shape_text got = shape_text(g->rank, g->shape), want = shape_text(w->rank, w->shape);
    char label[512];
    snprintf(label, sizeof label, "%.300s%s%s", g->file->path, p->label[0] != 0 ? ": " : "",
             p->label);
    bool layout = g->rank == w->rank && g->rank >= 3 && g->shape[0] == w->shape[0] &&
                  g->shape[1] == w->shape[2] && g->shape[2] == w->shape[1] &&
                  g->shape[3] == w->shape[3];
    if (layout)
        return refuse(why,
                      "%s: shape %s against %s: the same is right; with dimensions 1 and 2 of "
                      "WANT exchanged (bnhd for bhnd) they agree: --transpose%s",
                      label, got.text, want.text,
                      p->job->scenario->given[OPTION_TRANSPOSE] ? " is one too many" : "");
    return refuse(why, "%s: shape %s against %s: the same is right%s", label, got.text, want.text,
                  g->elements == w->elements ? ", and both have as many elements: reshape one"
                                             : "");
}

static bool check_exact(const struct compare_pair *p, struct message *why)
{
    const struct tensor_stream *e = &p->exact;
    if (!same_shape(&p->got, e))
        return refuse(why, "--exact %.300s: shape %s; %s is right", e->file->path,
                      shape_text(e->rank, e->shape).text,
                      shape_text(p->got.rank, p->got.shape).text);
    enum format f = compare_format(p->got.dtype, p->want.dtype);
    if (format_info(e->dtype)->precision > format_info(f)->precision)
        return true;
    return refuse(why,
                  "--exact %.300s: %s is no truer than the %s it shall judge; a wider format "
                  "is right%s",
                  e->file->path, format_info(e->dtype)->name, format_info(f)->name,
                  f == FORMAT_FP64 ? ", and there is none" : "");
}

static bool names_logits(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *word = name[0] != 0 ? name : slash != NULL ? slash + 1 : path;
    return strncmp(word, "logits", 6) == 0;
}

static bool start_pair(struct compare_pair *p, struct message *why)
{
    struct compare_job *job = p->job;
    const bool heads = p->got.rank == 4;
    int64_t room = job->all ? COMPARE_MOST_LISTED - job->listed : COMPARE_FIRST;
    struct compare_options o = {.atol = job->atol,
                                .rtol = job->rtol,
                                .ulp = job->ulp,
                                .head_axis = heads ? (job->bnhd ? 2 : 1) : -1,
                                .exact = p->exact.file != NULL,
                                .keep = room,
                                .found = compare_list,
                                .context = p};
    enum format f = compare_format(p->got.dtype, p->want.dtype);
    bool asked = job->scenario->given[OPTION_LOGITS];
    if (!same_shape(&p->got, &p->want))
        return refuse_shapes(p, why);
    if (p->exact.file != NULL && !check_exact(p, why))
        return false;
    int64_t length = p->got.rank > 0 ? p->got.shape[p->got.rank - 1] : 0;
    p->logits = (asked || names_logits(p->got.file->path, p->name)) && p->got.elements > 0 &&
                length > 0 && length <= MOST_LOGITS;
    if (asked && !p->logits)
        return refuse(why, "--logits: rows of 1 to %d logits are right", MOST_LOGITS);
    logits_start(&p->l, f);
    return compare_start(&p->c, f, p->got.rank, p->got.shape, &o, why);
}

static void add_totals(struct compare_job *job, const struct comparison *c)
{
    job->tensors++;
    job->failed += !compare_passes(job, c);
    job->elements += c->elements;
    job->differ += c->differ;
    job->of_kind += c->of_kind;
    job->zero_signs += c->zero_signs;
    job->outside += c->outside;
    job->sum_steps += c->sum_steps;
    if (c->options.exact)
        job->not_rounded += c->elements - c->side[1].rounded;
    job->max_steps = c->max_steps > job->max_steps ? c->max_steps : job->max_steps;
    job->least_atol = c->least_atol > job->least_atol ? c->least_atol : job->least_atol;
    job->least_rtol = c->least_rtol > job->least_rtol ? c->least_rtol : job->least_rtol;
}

static void say_list(struct compare_pair *p, const char *list)
{
    char **text = &p->job->text;
    int64_t shown = p->c.differ < p->c.options.keep ? p->c.differ : p->c.options.keep;
    if (p->c.differ == 0)
        return;
    text_append(text, "\n %s, in C order; value, hex, bits (sign exponent fraction)\n%s",
                shown < p->c.differ ? "first differences" : "differences", list);
    if (shown < p->c.differ && p->job->all)
        text_append(text, " ... %s more: %s are listed\n", grouped(p->c.differ - shown).text,
                    grouped(COMPARE_MOST_LISTED).text);
    else if (shown < p->c.differ)
        text_append(text, " ... %s more (--all lists every one)\n",
                    grouped(p->c.differ - shown).text);
}

bool compare_measure(struct compare_pair *p, struct json *to, struct message *why)
{
    char *list = NULL;
    size_t size;
    if ((p->list = open_memstream(&list, &size)) == NULL)
        return refuse(why, "no memory");
    json_string(to, "name", p->name);
    p->differences = json_list(to, "differences");
    bool ok = start_pair(p, why) && run_blocks(p, why);
    fclose(p->list);
    /* A tensor that is equal is a line with --all, else not worth one. */
    bool silent = p->name[0] != 0 && !p->job->all && compare_passes(p->job, &p->c) &&
                  p->exact.file == NULL && !p->logits;
    if (ok) {
        compare_json(p, to);
        add_totals(p->job, &p->c);
    }
    if (ok && !silent) {
        size_t before = p->job->text != NULL ? strlen(p->job->text) : 0;
        compare_say(p);
        compare_page_pair(p, p->job->text != NULL ? p->job->text + before : "");
        say_list(p, list);
    }
    free(list);
    compare_free(&p->c);
    return ok;
}
