/* problem_build.c: the door: tensors and options become a problem, or a sentence says why not.

   After it, sizes agree and the mathematics need not ask again. */
#include "reference/problem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct problem_options problem_defaults(void)
{
    return (struct problem_options){.mask = {false, ALIGN_BOTTOM_RIGHT, -1, -1}};
}

/* t as (B, H, N, D), whatever its rank and order in memory: the same elements, other strides. */
static struct tensor as_rank_4(const struct tensor *t, bool bnhd)
{
    struct tensor v = *t;
    int missing = TENSOR_MAX_RANK - t->rank;
    v.rank = TENSOR_MAX_RANK;
    for (int i = 0; i < TENSOR_MAX_RANK; i++) {
        v.shape[i] = i < missing ? 1 : t->shape[i - missing];
        v.stride[i] = i < missing ? 0 : t->stride[i - missing];
    }
    if (bnhd && t->rank > 2) {
        v.shape[1] = t->shape[t->rank - 2];
        v.shape[2] = t->shape[t->rank - 3];
        v.stride[1] = t->stride[t->rank - 2];
        v.stride[2] = t->stride[t->rank - 3];
    }
    return v;
}

enum { B, H, N, D };

/* Do the three (B, H, N, D) shapes make an attention?  Otherwise the first clash in words. */
static const char *clash(const struct tensor *q, const struct tensor *k, const struct tensor *v)
{
    if (q->shape[D] < 1)
        return "D is 0; 1 and more is right";
    if (q->shape[D] != k->shape[D])
        return "q and k differ in D";
    if (v->shape[D] != k->shape[D])
        return "v has another D than q and k, which is not supported";
    if (q->shape[B] != k->shape[B] || q->shape[B] != v->shape[B])
        return "the batches differ";
    if (k->shape[H] != v->shape[H])
        return "k and v differ in heads";
    if (k->shape[N] != v->shape[N])
        return "k and v differ in length";
    if (q->shape[H] < 1 || k->shape[H] < 1)
        return "there are no heads";
    if (q->shape[H] % k->shape[H] != 0)
        return "the heads of q are no multiple of those of k and v";
    return NULL;
}

static bool check_shapes(const struct tensor *q, const struct tensor *k, const struct tensor *v,
                         bool bnhd, struct message *why)
{
    const struct tensor *files[3] = {q, k, v};
    const char *const layouts[2][3] = {{"(N, D)", "(H, N, D)", "(B, H, N, D)"},
                                       {"(N, D)", "(N, H, D)", "(B, N, H, D)"}};
    for (int i = 0; i < 3; i++)
        if (files[i]->rank < 2)
            return refuse(why, "%c %s: wants %s, %s or %s", "qkv"[i],
                          shape_text(files[i]->rank, files[i]->shape).text, layouts[bnhd][0],
                          layouts[bnhd][1], layouts[bnhd][2]);
    struct tensor ours[3], other[3];
    for (int i = 0; i < 3; i++) {
        ours[i] = as_rank_4(files[i], bnhd);
        other[i] = as_rank_4(files[i], !bnhd);
    }
    const char *what = clash(&ours[0], &ours[1], &ours[2]);
    if (what == NULL)
        return true;
    bool would = clash(&other[0], &other[1], &other[2]) == NULL;
    return refuse(why, "q %s, k %s, v %s as %s: %s%s%s", shape_text(q->rank, q->shape).text,
                  shape_text(k->rank, k->shape).text, shape_text(v->rank, v->shape).text,
                  layouts[bnhd][q->rank - 2], what, would ? "; they fit with --layout " : "",
                  !would ? ""
                  : bnhd ? "bhnd"
                         : "bnhd");
}

static bool check_options(const struct problem_options *o, struct message *why)
{
    const struct mask *m = &o->mask;
    if (m->left < -1 || m->right < -1)
        return refuse(why, "--window %lld,%lld: a side is -1 (unlimited) or 0 and more",
                      (long long)m->left, (long long)m->right);
    if (!(o->softcap >= 0) || isinf(o->softcap))
        return refuse(why, "--softcap %g: 0 (none) or a positive number is right", o->softcap);
    if (o->scale_given && !isfinite(o->scale))
        return refuse(why, "--scale %g: a finite number is right", o->scale);
    return true;
}

/* cu[0..sequences]: from 0, never down, to `total`, the rows of `name`. */
static bool check_lengths(const int64_t *cu, int64_t sequences, int64_t total, char name,
                          struct message *why)
{
    if (cu[0] != 0)
        return refuse(why, "--cu-seqlens of %c begins with %lld; 0 is right", name,
                      (long long)cu[0]);
    for (int64_t i = 1; i <= sequences; i++)
        if (cu[i] < cu[i - 1])
            return refuse(why, "--cu-seqlens of %c: %lld after %lld; they must not decrease", name,
                          (long long)cu[i], (long long)cu[i - 1]);
    if (cu[sequences] != total)
        return refuse(why, "--cu-seqlens of %c ends with %lld, but %c has %lld rows", name,
                      (long long)cu[sequences], name, (long long)total);
    return true;
}

static int64_t *copy_lengths(const int64_t *cu, int64_t sequences)
{
    size_t bytes = ((size_t)sequences + 1) * sizeof *cu;
    int64_t *copy = malloc(bytes);
    if (copy != NULL)
        memcpy(copy, cu, bytes);
    return copy;
}

static bool set_lengths(struct problem *p, const struct problem_options *o, struct message *why)
{
    if (o->cu_q == NULL)
        return true;
    const int64_t *cu_k = o->cu_k != NULL ? o->cu_k : o->cu_q;
    if (o->sequences < 1)
        return refuse(why, "--cu-seqlens: two numbers or more are right, 0 and the total at least");
    if (p->B != 1)
        return refuse(why, "--cu-seqlens packs sequences into one batch, but the batch is %lld",
                      (long long)p->B);
    if (!check_lengths(o->cu_q, o->sequences, p->Nq, 'q', why) ||
        !check_lengths(cu_k, o->sequences, p->Nk, 'k', why))
        return false;
    p->sequences = o->sequences;
    p->cu_q = copy_lengths(o->cu_q, o->sequences);
    p->cu_k = copy_lengths(cu_k, o->sequences);
    if (p->cu_q != NULL && p->cu_k != NULL)
        return true;
    free(p->cu_q);
    free(p->cu_k);
    return refuse(why, "--cu-seqlens: no memory");
}

bool problem_new(struct problem *p, struct tensor *q, struct tensor *k, struct tensor *v,
                 const struct problem_options *options, struct message *why)
{
    assert(options->cu_q != NULL || options->cu_k == NULL);
    *p = (struct problem){0};
    if (!check_shapes(q, k, v, options->bnhd, why) || !check_options(options, why))
        return false;
    struct tensor *files[3] = {q, k, v}, views[3];
    for (int i = 0; i < 3; i++)
        views[i] = as_rank_4(files[i], options->bnhd);
    struct problem made = {.B = views[0].shape[B],
                           .Hq = views[0].shape[H],
                           .Hkv = views[1].shape[H],
                           .Nq = views[0].shape[N],
                           .Nk = views[1].shape[N],
                           .D = views[0].shape[D],
                           .scale = {1, views[0].shape[D]},
                           .mask = options->mask,
                           .softcap = options->softcap};
    if (options->scale_given)
        made.scale = (struct scale){options->scale, 1};
    if (made.mask.causal)
        made.mask.right = 0;
    if (!set_lengths(&made, options, why))
        return false;
    for (int i = 0; i < 3; i++) {
        views[i].owns_data = files[i]->owns_data;
        files[i]->owns_data = false;
    }
    made.q = views[0];
    made.k = views[1];
    made.v = views[2];
    *p = made;
    return true;
}

/* The numbers of one text, and where its tiles end. */
struct list {
    double *numbers;
    int64_t count;
    int64_t *ends;
    int tiles;
};

static void list_free(struct list *list)
{
    free(list->numbers);
    free(list->ends);
}

static const char blanks[] = " \t\r\n";

/* The next number or bar of the text; false at its end. */
static bool next_word(const char **at, size_t *length)
{
    *at += strspn(*at, blanks);
    *length = **at == '|' ? 1 : strcspn(*at, " \t\r\n|");
    return *length > 0;
}

static bool read_number(const char *option, const char *word, size_t length, double *x,
                        struct message *why)
{
    char *end;
    int shown = length < 40 ? (int)length : 40;
    errno = 0;
    *x = strtod(word, &end);
    if (end != word + length)
        return refuse(why, "%s: '%.*s' is no number; blanks separate numbers, | ends a tile",
                      option, shown, word);
    if (errno == ERANGE && isinf(*x))
        return refuse(why, "%s: '%.*s' is too large for a double; write inf for infinity", option,
                      shown, word);
    return true;
}

static bool end_tile(const char *option, struct list *list, struct message *why)
{
    int64_t start = list->tiles > 0 ? list->ends[list->tiles - 1] : 0;
    if (list->count == start)
        return refuse(why, "%s: tile %d is empty; each | ends a tile of one number or more", option,
                      list->tiles + 1);
    list->ends[list->tiles++] = list->count;
    return true;
}

/* No text has more numbers or tiles than characters. */
static bool read_list(const char *option, const char *text, struct list *list, struct message *why)
{
    size_t room = strlen(text) + 1, length;
    *list = (struct list){calloc(room, sizeof(double)), 0, calloc(room, sizeof(int64_t)), 0};
    if (list->numbers == NULL || list->ends == NULL)
        return refuse(why, "%s: no memory", option);
    bool bar = false;
    for (; next_word(&text, &length); text += length) {
        bar = *text == '|';
        if (bar ? !end_tile(option, list, why)
                : !read_number(option, text, length, &list->numbers[list->count++], why))
            return false;
    }
    return bar || list->count == 0 || end_tile(option, list, why);
}

static bool compare_lists(const struct list *scores, const struct list *values, struct message *why)
{
    if (scores->tiles != values->tiles)
        return refuse(why, "--scores has %d tiles, --values has %d", scores->tiles, values->tiles);
    for (int i = 0; i < scores->tiles; i++) {
        int64_t start_s = i > 0 ? scores->ends[i - 1] : 0,
                start_v = i > 0 ? values->ends[i - 1] : 0;
        if (scores->ends[i] - start_s != values->ends[i] - start_v)
            return refuse(why, "tile %d has %lld scores but %lld values", i + 1,
                          (long long)(scores->ends[i] - start_s),
                          (long long)(values->ends[i] - start_v));
    }
    return true;
}

/* A (1, 1, count, 1) tensor of the numbers. */
static bool column(struct tensor *t, const double *numbers, int64_t count, struct message *why)
{
    const int64_t shape[TENSOR_MAX_RANK] = {1, 1, count, 1};
    if (!tensor_new(t, FORMAT_FP64, TENSOR_MAX_RANK, shape, why))
        return false;
    for (int64_t i = 0; i < count; i++)
        tensor_set(t, 0, 0, i, 0, numbers[i]);
    return true;
}

/* The problem of two lists that agree; takes the scores' ends over. */
static bool from_lists(struct problem *p, struct list *scores, const struct list *values,
                       struct message *why)
{
    const double one = 1;
    struct tensor q = {0}, k = {0}, v = {0};
    struct problem_options options = problem_defaults();
    bool ok = column(&q, &one, 1, why) && column(&k, scores->numbers, scores->count, why) &&
              column(&v, values->numbers, values->count, why) &&
              problem_new(p, &q, &k, &v, &options, why);
    if (ok) {
        p->scores_given = true;
        p->tiles = scores->tiles;
        p->tile_ends = scores->ends;
        scores->ends = NULL;
    }
    tensor_free(&q);
    tensor_free(&k);
    tensor_free(&v);
    return ok;
}

bool problem_from_scores(struct problem *p, const char *scores, const char *values,
                         struct message *why)
{
    struct list s = {0}, v = {0};
    *p = (struct problem){0};
    bool ok = read_list("--scores", scores, &s, why) && read_list("--values", values, &v, why) &&
              compare_lists(&s, &v, why) && from_lists(p, &s, &v, why);
    list_free(&s);
    list_free(&v);
    return ok;
}
