/* run.c: runs and their tiles; which arithmetic fits which policy. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/arith.h"
#include "simulator/cpu.h"
#include "simulator/watch.h"

extern const struct arithmetic arith_float_base, arith_float_v3, arith_float_v4;

const struct arithmetic *arith_float(void)
{
#ifdef __x86_64__
    static const struct arithmetic *const levels[CPU_LEVELS] = {&arith_float_base, &arith_float_v3,
                                                                &arith_float_v4};
    return levels[cpu_level()];
#else
    return &arith_float_base;
#endif
}

const struct arithmetic *arithmetic_named(const char *name, struct message *why)
{
    if (strcmp(name, "float") == 0)
        return arith_float();
    if (strcmp(name, "double") == 0)
        return &arith_double;
    if (strcmp(name, "mpfr") == 0)
        return &arith_mpfr;
    refuse(why, "unknown arithmetic \"%s\": float, double or mpfr", name);
    return NULL;
}

/* Float tiles hold 24 bits: a wider site would be rounded at a place without a name. */
static bool float_fits(const struct policy *policy, struct message *why)
{
    for (int s = 0; s < SITE_COUNT; s++) {
        enum format f = policy->site[s].format;
        if ((f == FORMAT_EXACT || f == FORMAT_FP64) && s != SITE_PV_PRODUCT && s != SITE_INPUT)
            return refuse(why,
                          "policy %s has %s at %s, which the float arithmetic cannot hold: use "
                          "--arith double or --arith mpfr",
                          policy->name, format_info(f)->name, site_name((enum site)s));
    }
    if (policy->site[SITE_PV_PRODUCT].format == FORMAT_FP64)
        return refuse(why, "PV_PRODUCT fp64 needs --arith double; exact means a fused step");
    return true;
}

bool run_new(struct run *r, const struct arithmetic *arith, const struct policy *policy,
             int precision, struct message *why)
{
    memset(r, 0, sizeof *r);
    if (arith != &arith_double && arith != &arith_mpfr && !float_fits(policy, why))
        return false;
    r->arith = arith;
    r->policy = policy;
    r->precision = precision;
    r->perform = perform_plain;
    return true;
}

static void tile_free(struct run *r, struct tile *t)
{
    if (t == NULL)
        return;
    r->arith->element_free(t->data, (size_t)t->rows * t->cols);
    free(t->lo);
    free(t->local);
    free(t);
}

void run_reset(struct run *r)
{
    for (int i = 0; i < r->tile_count; i++)
        tile_free(r, r->tiles[i]);
    r->tile_count = 0;
    r->anchor = NULL;
    if (r->watch != NULL)
        run_reset(&r->watch->twin);
}

void run_free(struct run *r)
{
    run_reset(r);
    free(r->tiles);
    free(r->scratch);
    memset(r, 0, sizeof *r);
}

/* A program's own sizes: running out of memory here ends it. */
static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

struct tile *tile_new(struct run *r, enum tensor_name name, int rows, int cols)
{
    struct tile *t = must(calloc(1, sizeof *t));
    t->rows = rows;
    t->cols = cols;
    t->name = name;
    t->wrote = SITE_NONE;
    t->lo = must(calloc(2 * (size_t)rows + 1, sizeof *t->lo));
    t->hi = t->lo + rows;
    t->data = must(r->arith->element_new(r, (size_t)rows * cols));
    if (r->watch != NULL) {
        t->local = must(calloc((size_t)rows * cols + 1, sizeof *t->local));
        t->twin = tile_new(&r->watch->twin, name, rows, cols);
    }
    if (r->tile_count == r->tile_room) {
        r->tile_room = r->tile_room ? 2 * r->tile_room : 32;
        r->tiles = must(realloc(r->tiles, sizeof *r->tiles * (size_t)r->tile_room));
    }
    r->tiles[r->tile_count++] = t;
    return t;
}

double tile_get(const struct run *r, const struct tile *t, int row, int col)
{
    return r->arith->get(t->data, (size_t)row * t->cols + col);
}

/* The buffer belongs to the run but is no part of its state: bodies see a const run. */
void *run_scratch(const struct run *r, size_t bytes)
{
    struct run *own = (struct run *)r;
    if (bytes > own->scratch_bytes) {
        free(own->scratch);
        own->scratch = must(aligned_alloc(64, (bytes + 63) / 64 * 64));
        own->scratch_bytes = bytes;
    }
    return own->scratch;
}

void perform_plain(struct run *r, const struct call *c)
{
    r->arith->body[c->verb](r, c);
}
