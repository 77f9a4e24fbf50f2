/* compare.c: a kernel's outputs and its pair's, bit by bit; digests. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/launch.h"
#include "simulator/simulate_parts.h"

/* One of the arrays: count words of 4 * digits bits. */
struct side {
    const char *name;
    const void *got, *want;
    int64_t count, heads, rows, D;
    int digits;
};

static uint32_t word(const void *from, int digits, int64_t i)
{
    return digits == 8 ? ((const uint32_t *)from)[i] : ((const uint16_t *)from)[i];
}

static void compare_side(const struct side *s, struct gpu_difference *d)
{
    for (int64_t i = 0; i < s->count && s->got != NULL; i++) {
        uint32_t got = word(s->got, s->digits, i), want = word(s->want, s->digits, i);
        if (got == want || d->count++ > 0)
            continue;
        int64_t row = i / s->D % s->rows, head = i / s->D / s->rows;
        snprintf(d->first, sizeof d->first, "%s[%lld,%lld,%lld,%lld] 0x%0*X, want 0x%0*X", s->name,
                 (long long)(head / s->heads), (long long)(head % s->heads), (long long)row,
                 (long long)(i % s->D), s->digits, (unsigned)got, s->digits, (unsigned)want);
    }
}

bool gpu_order_unknown(const struct gpu_pair *p)
{
    return gpu_kernel_info(p->kernel)->flags & GPU_ATOMIC && !target_is_emulator();
}

struct gpu_difference gpu_compare(const struct gpu_pair *p, const struct gpu_output *got,
                                  const struct gpu_output *want)
{
    const struct problem *x = &p->input.problem;
    struct gpu_difference d = {0};
    const uint16_t *dQ = gpu_order_unknown(p) ? NULL : got->dQ;
    const struct side sides[] = {
        {"O", got->O, want->O, got->elements, x->Hq, x->Nq, x->D, 4},
        {"L", got->lse, want->lse, got->rows, x->Hq, x->Nq, 1, 8},
        {"dQ", dQ, want->dQ, got->elements, x->Hq, x->Nq, x->D, 4},
        {"dK", got->dK, want->dK, got->keys, x->Hkv, x->Nk, x->D, 4},
        {"dV", got->dV, want->dV, got->keys, x->Hkv, x->Nk, x->D, 4},
    };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        compare_side(&sides[i], &d);
    return d;
}

static double *decoded(enum format f, const void *from, int digits, int64_t n)
{
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    if (x == NULL)
        abort();
    for (int64_t i = 0; i < n; i++)
        x[i] = format_decode(f, word(from, digits, i));
    return x;
}

uint64_t gpu_digest(const struct gpu_pair *p, const struct gpu_output *o)
{
    enum format f = p->input.input_format;
    if (o->dQ == NULL) {
        double *O = decoded(f, o->O, 4, o->elements), *L = decoded(FORMAT_FP32, o->lse, 8, o->rows);
        uint64_t digest = digest_outputs(f, O, o->elements, L, o->rows);
        free(O);
        free(L);
        return digest;
    }
    const struct {
        const uint16_t *words;
        int64_t count;
    } three[] = {{o->dQ, o->elements}, {o->dK, o->keys}, {o->dV, o->keys}};
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < 3; i++) {
        double *x = decoded(f, three[i].words, 4, three[i].count);
        digest = digest_numbers(digest, f, x, three[i].count);
        free(x);
    }
    return digest;
}
