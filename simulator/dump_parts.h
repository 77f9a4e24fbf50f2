/* dump_parts.h: what the files of dumped calls share. */
#ifndef FLASHULP_DUMP_PARTS_H
#define FLASHULP_DUMP_PARTS_H

#include "simulator/dump.h"

/* Where a call's keys lie: key n of sequence b is row first_slot[b] + n % page_size of page
   page[first_page[b] + n / page_size], of every head. */
struct key_places {
    const struct tensor *k,
        *v;       /* rank 4, (pages, rows, heads, D) or, `hnd`, (pages, heads, rows, D) */
    int64_t fold; /* 2: K and V alternate, page by page, in one tensor; else 1 */
    bool hnd;
    struct tensor view[2]; /* of keys that have no pages: what k and v point to */
    int64_t page_size, heads, D;
    int64_t sequences;
    int64_t *first_query; /* sequences + 1 */
    int64_t *keys, *first_page, *first_slot, *page;
    int64_t pages; /* in `page` */
};
void key_places_free(struct key_places *p);

/* A plain argument of the call, or NULL where it was left out. */
static inline const char *dump_argument(const struct dump *d, const char *name)
{
    return bundle_meta(&d->inputs, name);
}
static inline const struct tensor *dump_tensor(const struct dump *d, const char *name)
{
    return bundle_find(&d->inputs, name);
}

/* simulator/dump_keys.c: `q_tokens` rows of queries; plan: of a wrapper's method, else NULL. */
bool find_key_places(const char *folder, const struct dump *call, const struct dump *plan,
                     int64_t q_tokens, struct key_places *p, char **remarks, struct message *why);
/* Is it a method of a wrapper, whose page table was given to plan? */
bool dump_is_planned(const struct dump *call);
/* Is it a call that is read?  Otherwise which are. */
bool dump_is_read(const struct dump *call, struct message *why);

#endif
