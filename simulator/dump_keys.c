/* dump_keys.c: where the keys of a dumped call lie, from its page table or offsets, all checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/dump_parts.h"
#include "simulator/scenario_parts.h"

enum form { PLAIN, PAGES, PACKED, TABLE };

static const struct kind {
    const char *name;
    enum form form;
    bool planned;
    bool prefill;                           /* queries have offsets of their own */
    bool hnd;                               /* the layout when none is given */
    const char *kv, *starts, *pages, *last; /* names of its arguments, or plan's */
} calls[] = {
    {"single_decode_with_kv_cache", PLAIN, false, false, false, NULL, NULL, NULL, NULL},
    {"single_prefill_with_kv_cache", PLAIN, false, true, false, NULL, NULL, NULL, NULL},
    {"BatchDecodeWithPagedKVCacheWrapper.run", PAGES, true, false, false, "paged_kv_cache",
     "indptr", "indices", "last_page_len"},
    {"CUDAGraphBatchDecodeWithPagedKVCacheWrapper.run", PAGES, true, false, false, "paged_kv_cache",
     "indptr", "indices", "last_page_len"},
    {"BatchPrefillWithPagedKVCacheWrapper.run", PAGES, true, true, false, "paged_kv_cache",
     "paged_kv_indptr", "paged_kv_indices", "paged_kv_last_page_len"},
    {"BatchPrefillWithRaggedKVCacheWrapper.run", PACKED, true, true, false, NULL, "kv_indptr", NULL,
     NULL},
    {"trtllm_batch_decode_with_kv_cache", TABLE, false, false, true, "kv_cache", NULL,
     "block_tables", "seq_lens"},
    {"xqa_batch_decode_with_kv_cache", TABLE, false, false, false, "kv_cache", NULL, "block_tables",
     "seq_lens"},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static const struct kind *call_of(const struct dump *d)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(d->function, calls[i].name) == 0)
            return &calls[i];
    return NULL;
}

bool dump_is_planned(const struct dump *call)
{
    const struct kind *c = call_of(call);
    return c != NULL && c->planned;
}

bool dump_is_read(const struct dump *call, struct message *why)
{
    char *names = NULL;
    if (call_of(call) != NULL)
        return true;
    for (int i = 0; i < CALLS; i++)
        text_append(&names, "%s%s", i > 0 ? ", " : "", calls[i].name);
    refuse(why, "a dump of %.60s is not read; those of %.400s are", call->function, names);
    free(names);
    return false;
}

void key_places_free(struct key_places *p)
{
    free(p->first_query);
    free(p->keys);
    free(p->first_page);
    free(p->first_slot);
    free(p->page);
    *p = (struct key_places){0};
}

/* The whole numbers of a tensor, row by row, each from `least` to `most`; malloc'ed. */
static int64_t *whole(const struct dump *d, const char *name, int rank, int64_t least, int64_t most,
                      struct message *why)
{
    const struct tensor *t = dump_tensor(d, name);
    if (t == NULL || t->rank != rank || t->dtype != FORMAT_FP64) {
        refuse(why, "%.60s: %s is not there as whole numbers in %d dimension%s", d->function, name,
               rank, rank == 1 ? "" : "s");
        return NULL;
    }
    int64_t count = tensor_elements(t), columns = rank == 2 ? t->shape[1] : 1;
    int64_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers == NULL)
        refuse(why, "no memory for %s", name);
    for (int64_t i = 0; numbers != NULL && i < count; i++) {
        double x =
            rank == 2 ? tensor_get(t, i / columns, i % columns, 0, 0) : tensor_get(t, i, 0, 0, 0);
        if (x != floor(x) || !(x >= (double)least && x <= (double)most)) {
            refuse(why, "%.60s: %s has %.17g at %lld; whole numbers from %lld to %lld are right",
                   d->function, name, x, (long long)i, (long long)least, (long long)most);
            free(numbers);
            return NULL;
        }
        numbers[i] = (int64_t)x;
    }
    return numbers;
}

/* Offsets: sequences + 1 numbers from 0 to `most` that never fall, the first 0. */
static int64_t *offsets(const struct dump *d, const char *name, int64_t most, int64_t *sequences,
                        struct message *why)
{
    int64_t *at = whole(d, name, 1, 0, most, why);
    int64_t count = at != NULL ? dump_tensor(d, name)->shape[0] : 0;
    bool ok = count >= 2 && at[0] == 0;
    for (int64_t i = 1; ok && i < count; i++)
        ok = at[i] >= at[i - 1];
    if (at != NULL && !ok) {
        refuse(why, "%.60s: %s are no offsets that begin at 0 and never fall", d->function, name);
        free(at);
        return NULL;
    }
    *sequences = count - 1;
    return at;
}

static bool new_sequences(struct key_places *p, int64_t sequences, struct message *why)
{
    size_t count = (size_t)sequences + 1;
    p->sequences = sequences;
    p->keys = calloc(count, sizeof *p->keys);
    p->first_page = calloc(count, sizeof *p->first_page);
    p->first_slot = calloc(count, sizeof *p->first_slot);
    return (p->keys != NULL && p->first_page != NULL && p->first_slot != NULL) ||
           refuse(why, "no memory for %lld sequences", (long long)sequences);
}

/* Queries: one a sequence, or by qo_indptr. */
static bool take_queries(const struct kind *c, const struct dump *plan, int64_t tokens,
                         struct key_places *p, struct message *why)
{
    int64_t sequences = p->sequences;
    if (c->prefill && c->planned) {
        p->first_query = offsets(plan, "qo_indptr", tokens, &sequences, why);
        if (p->first_query == NULL)
            return false;
    } else {
        p->first_query = malloc(((size_t)sequences + 1) * sizeof *p->first_query);
        if (p->first_query == NULL)
            return refuse(why, "no memory");
        for (int64_t b = 0; b <= sequences; b++)
            p->first_query[b] = c->form == PLAIN ? b * tokens : b;
    }
    if (sequences != p->sequences || p->first_query[sequences] != tokens)
        return refuse(why, "%.60s: %lld rows of queries, but %lld are those of %lld sequences",
                      c->name, (long long)tokens, (long long)p->first_query[sequences],
                      (long long)p->sequences);
    return true;
}

/* HND or NHD: as given, by plan's numbers, or the usual one, which is said. */
static bool take_layout(const char *folder, const struct kind *c, const struct dump *call,
                        const struct dump *plan, struct key_places *p, char **remarks,
                        struct message *why)
{
    const char *given = dump_argument(call, "kv_layout");
    struct dump made = {0};
    struct message none;
    if (given == NULL && c->planned &&
        dump_find_earlier(folder, call, "__init__", false, &made, &none))
        given = dump_argument(&made, "kv_layout");
    bool known = given == NULL || strcmp(given, "NHD") == 0 || strcmp(given, "HND") == 0;
    p->hnd = given != NULL ? strcmp(given, "HND") == 0 : c->hnd;
    if (!known)
        refuse(why, "%.60s: kv_layout '%.20s': NHD or HND is right", c->name, given);
    if (given == NULL && c->planned && c->form == PAGES) {
        const char *size = dump_argument(plan, "page_size"),
                   *heads = dump_argument(plan, "num_kv_heads");
        int64_t S = size != NULL ? atoll(size) : 0, H = heads != NULL ? atoll(heads) : 0;
        p->hnd = S != H && p->k->shape[1] == H && p->k->shape[2] == S;
        if (S == H || S == 0 || H == 0)
            text_append(remarks, "kv_layout is not in the dump, so NHD is taken\n");
    }
    dump_free(&made);
    return known;
}

/* K and V of pages: one tensor in which they alternate, or a pair. */
static bool take_pool(const struct kind *c, const struct dump *call, struct key_places *p,
                      struct message *why)
{
    char name[2][64];
    p->fold = 1;
    for (int i = 0; i < call->inputs.count; i++)
        if (strcmp(call->inputs.tensors[i].name, c->kv) == 0) {
            p->k = p->v = &call->inputs.tensors[i].tensor;
            p->fold = call->inputs.tensors[i].folded;
        }
    if (p->k != NULL)
        return p->fold == 2 || refuse(why, "%.60s: %s is not (pages, 2, ., ., D)", c->name, c->kv);
    for (int i = 0; i < 2; i++)
        snprintf(name[i], sizeof name[i], "%s.%d", c->kv, i);
    p->k = dump_tensor(call, name[0]);
    p->v = dump_tensor(call, name[1]);
    if (p->k == NULL || p->v == NULL || p->k->rank != 4 || p->v->rank != 4 ||
        memcmp(p->k->shape, p->v->shape, sizeof p->k->shape) != 0)
        return refuse(why, "%.60s: %s is neither one tensor of pages nor a pair of equal shapes",
                      c->name, c->kv);
    return true;
}

/* k and v of rank 3 as one page each. */
static bool take_rows(const struct kind *c, const struct dump *call, struct key_places *p,
                      struct message *why)
{
    const struct tensor *t[2] = {dump_tensor(call, "k"), dump_tensor(call, "v")};
    p->fold = 1;
    for (int i = 0; i < 2; i++) {
        if (t[i] == NULL || t[i]->rank != 3 ||
            memcmp(t[0]->shape, t[i]->shape, 3 * sizeof(int64_t)))
            return refuse(why, "%.60s: k and v are not there in three dimensions each, alike",
                          c->name);
        p->view[i] = *t[i];
        p->view[i].owns_data = false;
        p->view[i].rank = 4;
        memmove(p->view[i].shape + 1, t[i]->shape, 3 * sizeof(int64_t));
        memmove(p->view[i].stride + 1, t[i]->stride, 3 * sizeof(int64_t));
        p->view[i].shape[0] = 1;
        p->view[i].stride[0] = 0;
    }
    p->k = &p->view[0];
    p->v = &p->view[1];
    return true;
}

/* indptr, indices, last_page_len. */
static bool take_pages(const struct kind *c, const struct dump *plan, struct key_places *p,
                       struct message *why)
{
    int64_t sequences, pages = p->k->shape[0] / p->fold, S = p->page_size;
    p->page = whole(plan, c->pages, 1, 0, pages - 1, why);
    if (p->page == NULL)
        return false;
    p->pages = dump_tensor(plan, c->pages)->shape[0];
    int64_t *first = offsets(plan, c->starts, p->pages, &sequences, why);
    int64_t *last = first != NULL ? whole(plan, c->last, 1, 0, S, why) : NULL;
    bool ok = last != NULL && new_sequences(p, sequences, why);
    if (ok && dump_tensor(plan, c->last)->shape[0] != sequences)
        ok = refuse(why, "%.60s: %s does not have %lld numbers", plan->function, c->last,
                    (long long)sequences);
    for (int64_t b = 0; ok && b < sequences; b++) {
        int64_t count = first[b + 1] - first[b];
        p->first_page[b] = first[b];
        p->keys[b] = count > 0 ? (count - 1) * S + last[b] : 0;
    }
    free(first);
    free(last);
    return ok;
}

/* block_tables (sequences, pages of each), seq_lens. */
static bool take_table(const struct kind *c, const struct dump *call, struct key_places *p,
                       struct message *why)
{
    int64_t pages = p->k->shape[0] / p->fold;
    const struct tensor *table = dump_tensor(call, c->pages);
    int64_t most = table != NULL && table->rank == 2 ? table->shape[1] : 0;
    int64_t *lengths = whole(call, c->last, 1, 0, most * p->page_size, why);
    if (lengths == NULL)
        return false;
    int64_t sequences = dump_tensor(call, c->last)->shape[0];
    bool ok = table != NULL && new_sequences(p, sequences, why);
    if (!ok || table->shape[0] != sequences)
        ok = refuse(why, "%.60s: %s does not have %lld rows", c->name, c->pages,
                    (long long)sequences);
    p->page = ok ? whole(call, c->pages, 2, INT32_MIN, INT32_MAX, why) : NULL;
    ok = ok && p->page != NULL;
    p->pages = sequences * most;
    for (int64_t b = 0; ok && b < sequences; b++) {
        p->first_page[b] = b * most;
        p->keys[b] = lengths[b];
        for (int64_t n = 0; ok && n * p->page_size < lengths[b]; n++)
            if (p->page[b * most + n] < 0 || p->page[b * most + n] >= pages)
                ok = refuse(why,
                            "%.60s: block %lld of sequence %lld is on page %lld; there are %lld",
                            c->name, (long long)n, (long long)b, (long long)p->page[b * most + n],
                            (long long)pages);
    }
    free(lengths);
    return ok;
}

/* All keys of one sequence, or kv_indptr. */
static bool take_unpaged(const struct kind *c, const struct dump *plan, struct key_places *p,
                         struct message *why)
{
    int64_t sequences = 1, *first = NULL;
    if (c->form == PACKED &&
        (first = offsets(plan, c->starts, p->page_size, &sequences, why)) == NULL)
        return false;
    bool ok = new_sequences(p, sequences, why);
    p->page = calloc(1, sizeof *p->page);
    p->pages = 1;
    for (int64_t b = 0; ok && b < sequences; b++) {
        p->first_slot[b] = first != NULL ? first[b] : 0;
        p->keys[b] = first != NULL ? first[b + 1] - first[b] : p->page_size;
    }
    free(first);
    return ok && (p->page != NULL || refuse(why, "no memory"));
}

bool find_key_places(const char *folder, const struct dump *call, const struct dump *plan,
                     int64_t q_tokens, struct key_places *p, char **remarks, struct message *why)
{
    const struct kind *c = call_of(call);
    bool paged = c->form == PAGES || c->form == TABLE;
    *p = (struct key_places){0};
    bool ok = (paged ? take_pool(c, call, p, why) : take_rows(c, call, p, why)) &&
              take_layout(folder, c, call, plan, p, remarks, why);
    if (ok) {
        p->page_size = p->k->shape[p->hnd ? 2 : 1];
        p->heads = p->k->shape[p->hnd ? 1 : 2];
        p->D = p->k->shape[3];
        ok = (c->form == PAGES   ? take_pages(c, plan, p, why)
              : c->form == TABLE ? take_table(c, call, p, why)
                                 : take_unpaged(c, plan, p, why)) &&
             take_queries(c, plan, q_tokens, p, why);
    }
    if (!ok)
        key_places_free(p);
    return ok;
}
