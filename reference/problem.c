/* problem.c: what a problem is once it stands: its heads, what they see, INPUT's rounding. */
#include "reference/problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void problem_free(struct problem *p)
{
    tensor_free(&p->q);
    tensor_free(&p->k);
    tensor_free(&p->v);
    free(p->cu_q);
    free(p->cu_k);
    free(p->tile_ends);
    *p = (struct problem){0};
}

int64_t problem_units(const struct problem *p)
{
    return (p->cu_q != NULL ? p->sequences : p->B) * p->Hq;
}

struct head problem_head(const struct problem *p, int64_t n)
{
    assert(0 <= n && n < problem_units(p));
    struct head h = {.problem = p, .sequence = n / p->Hq, .head = n % p->Hq, .D = p->D};
    h.kv_head = h.head / (p->Hq / p->Hkv);
    if (p->cu_q == NULL) {
        h.batch = h.sequence;
        h.Nq = p->Nq;
        h.Nk = p->Nk;
        return h;
    }
    h.q0 = p->cu_q[h.sequence];
    h.k0 = p->cu_k[h.sequence];
    h.Nq = p->cu_q[h.sequence + 1] - h.q0;
    h.Nk = p->cu_k[h.sequence + 1] - h.k0;
    return h;
}

bool sees(const struct head *h, int64_t r, int64_t c)
{
    const struct mask *mask = &h->problem->mask;
    assert(0 <= r && r < h->Nq && 0 <= c && c < h->Nk);
    int64_t aligned = mask->align == ALIGN_TOP_LEFT ? r : r + h->Nk - h->Nq; /* r' */
    if (mask->causal && c > aligned)
        return false;
    if (mask->left != -1 && aligned - c > mask->left)
        return false;
    return mask->right == -1 || c - aligned <= mask->right;
}

/* Is every value of `narrow` a value of `wide`?  Its smallest subnormal must be one, and it must
   reach neither further nor finer; fp32-ftz has no subnormals. */
static bool holds_all(enum format wide, enum format narrow)
{
    const struct format_info *w = format_info(wide), *n = format_info(narrow);
    if (wide == FORMAT_EXACT)
        return true;
    int smallest = wide == FORMAT_FP32_FTZ ? w->emin : w->emin - w->precision + 1;
    return w->precision >= n->precision && w->largest >= n->largest &&
           smallest <= n->emin - n->precision + 1 && (w->has_infinity || !n->has_infinity);
}

static bool round_tensor(const struct tensor *from, enum format f, struct tensor *to,
                         int64_t *changed, struct message *why)
{
    const bool in_fp32 = f == FORMAT_FP32_FTZ || f == FORMAT_TF32;
    const int64_t *n = from->shape;
    if (!tensor_new(to, in_fp32 ? FORMAT_FP32 : f, from->rank, n, why))
        return false;
    for (int64_t b = 0; b < n[0]; b++)
        for (int64_t h = 0; h < n[1]; h++)
            for (int64_t r = 0; r < n[2]; r++)
                for (int64_t d = 0; d < n[3]; d++) {
                    double x = tensor_get(from, b, h, r, d);
                    double rounded = format_round(f, x, false);
                    *changed += x != rounded && !(isnan(x) && isnan(rounded));
                    tensor_set(to, b, h, r, d, rounded);
                }
    return true;
}

bool problem_round_input(struct problem *p, enum format f, int64_t *changed, struct message *why)
{
    struct tensor *tensors[3] = {&p->q, &p->k, &p->v};
    struct tensor rounded[3] = {{0}};
    int64_t count = 0;
    bool ok = true;
    for (int i = 0; ok && i < 3; i++)
        if (!holds_all(f, tensors[i]->dtype))
            ok = round_tensor(tensors[i], f, &rounded[i], &count, why);
    for (int i = 0; i < 3; i++) {
        if (ok && rounded[i].data != NULL) {
            tensor_free(tensors[i]);
            *tensors[i] = rounded[i];
        } else {
            tensor_free(&rounded[i]);
        }
    }
    *changed = ok ? count : 0;
    return ok;
}
