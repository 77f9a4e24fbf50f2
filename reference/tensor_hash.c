/* tensor_hash.c: see tensor_hash.h.

   Side 0 has a thread from the start; side 1 follows it, without a sum of its own, until they
   differ.  A block offered out of order is left to hashing_end, which reads what is missing. */
#include "reference/tensor_hash.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "reference/tensor_file.h"

enum { PIECE = 1 << 18 };

struct offer {
    const unsigned char *bytes[2];
    uint64_t offset[2], count[2];
};

struct side {
    struct hashing *hashing;
    const struct source *source;
    uint64_t done; /* bytes of the file in the sum */
    struct sha256 sum;
    unsigned char *piece; /* [PIECE] */
    uint64_t next;        /* offers it is through with */
    pthread_t thread;
    bool running, ok;
    struct message why;
};

struct hashing {
    struct side side[2];
    bool same; /* side 1 has the bytes of side 0 so far, and its sum */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct offer ring[HASHING_BLOCKS]; /* offer n, from 1 on, lies at n % HASHING_BLOCKS */
    uint64_t offered;
    bool ended;
    atomic_bool abandoned; /* nobody asks for the digests any more */
};

/* Reads up to `to` into the sum. */
static void add_from_file(struct side *s, uint64_t to)
{
    while (s->ok && !s->hashing->abandoned && s->done < to) {
        uint64_t count = to - s->done < PIECE ? to - s->done : PIECE;
        s->ok = source_read(s->source, s->done, s->piece, count, &s->why);
        if (s->ok)
            sha256_add(&s->sum, s->piece, (size_t)count);
        s->done += count;
    }
}

/* Does the block follow what is hashed, but for a few bytes between? */
static bool follows(const struct side *s, uint64_t offset)
{
    return offset >= s->done && offset - s->done <= PIECE;
}

static void add_offer(struct side *s, const struct offer *o, int which)
{
    if (!follows(s, o->offset[which]))
        return;
    add_from_file(s, o->offset[which]);
    if (s->ok)
        sha256_add(&s->sum, o->bytes[which], (size_t)o->count[which]);
    s->done += o->count[which];
}

/* Are bytes done .. to the same in both files? */
static bool same_in_files(struct hashing *h, uint64_t to)
{
    struct side *a = &h->side[0], *b = &h->side[1];
    uint64_t count = to - a->done;
    assert(count <= PIECE);
    if (to > b->source->size)
        return false;
    a->ok = a->ok && source_read(a->source, a->done, a->piece, count, &a->why);
    b->ok = b->ok && source_read(b->source, a->done, b->piece, count, &b->why);
    return a->ok && b->ok && memcmp(a->piece, b->piece, (size_t)count) == 0;
}

static void *work(void *context);

/* From here on side 1 has its own sum, and while anything is left its own thread. */
static void part(struct hashing *h)
{
    struct side *b = &h->side[1];
    h->same = false;
    b->sum = h->side[0].sum;
    b->done = h->side[0].done;
    pthread_mutex_lock(&h->lock);
    b->running = b->done < b->source->size && pthread_create(&b->thread, NULL, work, b) == 0;
    pthread_mutex_unlock(&h->lock);
}

static bool same_block(struct hashing *h, const struct offer *o)
{
    return o->offset[0] == o->offset[1] && o->count[0] == o->count[1] &&
           same_in_files(h, o->offset[0]) &&
           memcmp(o->bytes[0], o->bytes[1], (size_t)o->count[0]) == 0;
}

static bool take(struct side *s, struct offer *o)
{
    struct hashing *h = s->hashing;
    pthread_mutex_lock(&h->lock);
    while (s->next == h->offered && !h->ended)
        pthread_cond_wait(&h->changed, &h->lock);
    bool taken = s->next < h->offered;
    if (taken)
        *o = h->ring[(s->next + 1) % HASHING_BLOCKS];
    pthread_mutex_unlock(&h->lock);
    return taken;
}

static void leave(struct side *s)
{
    struct hashing *h = s->hashing;
    pthread_mutex_lock(&h->lock);
    s->next++;
    if (s == &h->side[0] && !h->side[1].running)
        h->side[1].next = s->next;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

/* What nobody offered, while it is the same in both. */
static void add_common(struct hashing *h)
{
    struct side *a = &h->side[0];
    while (!h->abandoned && a->done < a->source->size) {
        uint64_t left = a->source->size - a->done, to = a->done + (left < PIECE ? left : PIECE);
        if (!same_in_files(h, to))
            return;
        sha256_add(&a->sum, a->piece, (size_t)(to - a->done));
        a->done = to;
    }
}

static void *work(void *context)
{
    struct side *s = context;
    struct hashing *h = s->hashing;
    const int which = s == &h->side[1];
    struct offer o;
    while (take(s, &o)) {
        if (which == 0 && h->same && follows(s, o.offset[0]) && !same_block(h, &o))
            part(h);
        add_offer(s, &o, which);
        leave(s);
    }
    if (which == 0 && h->same) {
        add_common(h);
        part(h);
    }
    add_from_file(s, s->source->size);
    return NULL;
}

static void hashing_free(struct hashing *h)
{
    for (int i = 0; i < 2; i++)
        free(h->side[i].piece);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
    free(h);
}

struct hashing *hashing_start(const struct tensor_file *a, const struct tensor_file *b,
                              struct message *why)
{
    const struct tensor_file *const file[2] = {a, b};
    struct hashing *h = calloc(1, sizeof *h);
    if (h == NULL) {
        refuse(why, "%s: no memory", a->path);
        return NULL;
    }
    h->same = true;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    for (int i = 0; i < 2; i++) {
        struct side *s = &h->side[i];
        *s = (struct side){.hashing = h, .source = file[i]->source, .ok = true};
        sha256_start(&s->sum);
        if ((s->piece = malloc(PIECE)) == NULL) {
            refuse(why, "%s: no memory", file[i]->path);
            hashing_free(h);
            return NULL;
        }
    }
    h->side[0].running = pthread_create(&h->side[0].thread, NULL, work, &h->side[0]) == 0;
    return h;
}

static struct offer offer_of(const struct tensor_stream *const s[2], const void *const codes[2],
                             int64_t first, int64_t count)
{
    struct offer o;
    for (int i = 0; i < 2; i++) {
        const uint64_t width = dtype_bytes(s[i]->dtype);
        o.bytes[i] = codes[i];
        o.offset[i] = s[i]->offset + (uint64_t)first * width;
        o.count[i] = (uint64_t)count * width;
    }
    return o;
}

static void no_more(struct hashing *h)
{
    pthread_mutex_lock(&h->lock);
    h->ended = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

uint64_t hashing_offer(struct hashing *h, const struct tensor_stream *const s[2],
                       const void *const codes[2], int64_t first, int64_t count)
{
    uint64_t number = 0;
    if (s[0]->whole != NULL || s[1]->whole != NULL)
        no_more(h); /* not the file's bytes: the threads read all that is left themselves */
    pthread_mutex_lock(&h->lock);
    if (h->side[0].running && !h->ended) {
        number = ++h->offered;
        assert(number - h->side[0].next <= HASHING_BLOCKS);
        assert(number - h->side[1].next <= HASHING_BLOCKS);
        h->ring[number % HASHING_BLOCKS] = offer_of(s, codes, first, count);
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return number;
}

void hashing_await(struct hashing *h, uint64_t offer)
{
    pthread_mutex_lock(&h->lock);
    while (h->side[0].next < offer || h->side[1].next < offer)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static void join(struct hashing *h)
{
    no_more(h);
    for (int i = 0; i < 2; i++) { /* side 0 may start the thread of side 1 */
        if (h->side[i].running)
            pthread_join(h->side[i].thread, NULL);
        else
            work(&h->side[i]);
    }
}

bool hashing_end(struct hashing *h, struct sha256_text digest[2], struct message *why)
{
    bool ok = true;
    join(h);
    for (int i = 0; i < 2; i++) {
        digest[i] = sha256_end(&h->side[i].sum);
        if (!h->side[i].ok)
            *why = h->side[i].why;
        ok = ok && h->side[i].ok;
    }
    hashing_free(h);
    return ok;
}

void hashing_abandon(struct hashing *h)
{
    h->abandoned = true;
    join(h);
    hashing_free(h);
}
