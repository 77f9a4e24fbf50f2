/* scenario_pages.c: --block-table: keys and values that lie in pages of a pool.

   K and V then hold the pool, whole pages one after another; the table names the page of each block
   of keys.  Gathering moves values and rounds nothing, so no kernel's bits depend on the table. */
#include <stdlib.h>

#include "simulator/scenario_pages.h"

struct pages {
    int64_t *page, count; /* the page of each block */
    int64_t size, length; /* tokens of a page; keys of the sequence */
};

static bool read_pages(const struct scenario *s, const struct problem *p, struct pages *t,
                       struct message *why)
{
    int64_t least, room;
    t->size = 16;
    if (p->B != 1 || p->cu_q != NULL)
        return refuse(why, "--block-table: one sequence (B = 1) is right");
    if (s->value[OPTION_PAGE_SIZE] != NULL &&
        !parse_integer("--page-size", s->value[OPTION_PAGE_SIZE], 1, 1 << 16, &t->size, why))
        return false;
    if (!parse_list("--block-table", s->value[OPTION_BLOCK_TABLE], &t->page, &t->count, why))
        return false;
    if (p->Nk % t->size != 0)
        return refuse(why, "--page-size %lld: K and V hold %lld tokens, which are no whole pages",
                      (long long)t->size, (long long)p->Nk);
    room = t->count * t->size;
    least = room - t->size + 1;
    t->length = room;
    return s->value[OPTION_KV_LENGTH] == NULL ||
           parse_integer("--kv-length", s->value[OPTION_KV_LENGTH], least, room, &t->length, why);
}

static bool pages_exist(const struct problem *p, const struct pages *t, struct message *why)
{
    int64_t pages = p->Nk / t->size;
    for (int64_t n = 0; n < t->count; n++)
        if (t->page[n] < 0 || t->page[n] >= pages)
            return refuse(why, "--block-table: block %lld is on page %lld; there are %lld pages of %lld "
                               "tokens, from 0 on", (long long)n, (long long)t->page[n],
                          (long long)pages, (long long)t->size);
    return true;
}

static bool gather(const struct problem *p, const struct pages *t, struct tensor *pool,
                   struct message *why)
{
    struct tensor dense;
    const int64_t shape[TENSOR_MAX_RANK] = {1, p->Hkv, t->length, p->D};
    if (!tensor_new(&dense, pool->dtype, TENSOR_MAX_RANK, shape, why))
        return false;
    for (int64_t h = 0; h < p->Hkv; h++)
        for (int64_t n = 0; n < t->length; n++)
            for (int64_t d = 0; d < p->D; d++)
                tensor_set(&dense, 0, h, n, d,
                           tensor_get(pool, 0, h, t->page[n / t->size] * t->size + n % t->size, d));
    tensor_free(pool);
    *pool = dense;
    return true;
}

bool problem_from_pages(const struct scenario *s, struct problem *p, char **remarks,
                        struct message *why)
{
    struct pages t = {0};
    if (s->value[OPTION_BLOCK_TABLE] == NULL) {
        if (s->given[OPTION_PAGE_SIZE] || s->given[OPTION_KV_LENGTH])
            return refuse(why, "--page-size and --kv-length go with --block-table");
        return true;
    }
    bool ok = read_pages(s, p, &t, why) && pages_exist(p, &t, why) && gather(p, &t, &p->k, why) &&
              gather(p, &t, &p->v, why);
    if (ok) {
        text_append(remarks, "%s keys gathered from %lld pages of %lld tokens\n",
                    grouped(t.length).text, (long long)t.count, (long long)t.size);
        p->Nk = t.length;
    }
    free(t.page);
    return ok;
}
