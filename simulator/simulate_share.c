/* simulate_share.c: the items of a simulation shared among threads, or, where it is watched, run one
   after another beside their exact twin. */
#include <pthread.h>
#include <stdatomic.h>

#include "simulator/simulate_parts.h"
#include "simulator/watch.h"

struct share {
    const struct simulation *simulation;
    share_item *item;
    void *with;
    int64_t items;
    atomic_llong next;
};

static void take_items(struct share *s, struct run *r)
{
    for (;;) {
        int64_t n = atomic_fetch_add(&s->next, 1);
        if (n >= s->items)
            return;
        s->item(r, s->with, n);
        run_reset(r);
    }
}

static void *share_thread(void *argument)
{
    struct share *s = argument;
    const struct simulation *simulation = s->simulation;
    struct message unused;
    struct run r;
    if (!run_new(&r, simulation->arith, &simulation->policy, simulation->precision, &unused))
        return NULL; /* the caller has tried already */
    r.alterations = simulation->alterations;
    take_items(s, &r);
    run_free(&r);
    arith_mpfr.thread_done(); /* every arithmetic's special functions may have used MPFR */
    return NULL;
}

/* The exact twin's: mpfr while the problem is small. */
static const struct arithmetic *twin_arithmetic(const struct problem *p)
{
    return (double)p->Nq * (double)p->Nk * (double)p->D <= 0x1p22 ? &arith_mpfr : &arith_double;
}

static void watched(struct share *s, const struct problem *p)
{
    const struct simulation *simulation = s->simulation;
    struct message unused;
    struct run r;
    struct watch watch;
    if (!run_new(&r, simulation->arith, &simulation->policy, simulation->precision, &unused))
        return;
    r.trace = simulation->trace;
    r.alterations = simulation->alterations;
    if (simulation->twin)
        watch_new(&watch, &r, twin_arithmetic(p), simulation->precision);
    take_items(s, &r);
    if (simulation->twin)
        watch_free(&watch, &r);
    run_free(&r);
}

void share_items(const struct problem *p, const struct simulation *simulation, share_item *item,
                 void *with, int64_t items)
{
    enum { MOST = 64 };
    struct share s = {.simulation = simulation, .item = item, .with = with, .items = items};
    pthread_t thread[MOST];
    int started = 0, threads = simulation->threads < MOST ? simulation->threads : MOST;
    if (simulation->trace != NULL || simulation->twin) {
        watched(&s, p);
        return;
    }
    while (started < threads - 1 && started < items - 1 &&
           pthread_create(&thread[started], NULL, share_thread, &s) == 0)
        started++;
    share_thread(&s);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
