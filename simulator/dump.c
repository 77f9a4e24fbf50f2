/* dump.c: see dump.h. */
#include "simulator/dump.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/dump_parts.h"
#include "simulator/scenario_parts.h"

/* Arguments that would make the call another computation than attention of its Q, K, V. */
static const struct {
    const char *name, *plain; /* the value that changes nothing, or NULL */
} changes[] = {
    {"pos_encoding_mode", "NONE"},
    {"custom_mask", NULL},
    {"packed_custom_mask", NULL},
    {"q_scale", "1"},
    {"k_scale", "1"},
    {"v_scale", "1"},
    {"o_scale", "1"},
    {"bmm2_scale", "1"},
    {"sinks", NULL},
    {"sinks.0", NULL},
    {"mask", NULL},
    {"kv_cache_sf", NULL},
    {"kv_cache_sf.0", NULL},
    {"alibi_slopes", NULL},
    {"q_len_per_req", "1"},
    {"maybe_alibi_slopes", NULL},
    {"o_sf_scale", NULL},
    {"skip_softmax_threshold_scale_factor", NULL},
    {"max_q_len", NULL},
    {"cum_seq_lens_q", NULL},
    {"multi_item_scoring_params", NULL},
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

static bool is_plain_call(const struct dump *d, struct message *why)
{
    for (int i = 0; i < CHANGES; i++) {
        const char *value = dump_argument(d, changes[i].name), *plain = changes[i].plain;
        bool tensor = dump_tensor(d, changes[i].name) != NULL;
        if (tensor || (value != NULL && (plain == NULL || strcmp(value, plain) != 0)))
            return refuse(why, "%.60s: %s was given%s%.40s: the call is not softmax(scale Q K) V",
                          d->function, changes[i].name, value != NULL ? " as " : "",
                          value != NULL ? value : "");
    }
    for (int i = 0; i < d->inputs.meta_count; i++)
        if (strncmp(d->inputs.meta_keys[i], "args_", 5) == 0)
            return refuse(why,
                          "%.60s: an argument was given by place beyond those it names; call "
                          "it by keyword",
                          d->function);
    return true;
}

/* A number given to the call, or else to plan. */
static bool number(const struct dump *call, const struct dump *plan, const char *name, bool *given,
                   double *x, struct message *why)
{
    const char *text = dump_argument(call, name);
    if (text == NULL && plan != NULL)
        text = dump_argument(plan, name);
    *given = text != NULL;
    if (text == NULL)
        return dump_tensor(call, name) == NULL ||
               refuse(why, "%.60s: %s is a tensor; a number is right", call->function, name);
    char *end;
    *x = strtod(text, &end);
    return (end != text && *end == 0 && isfinite(*x)) ||
           refuse(why, "%.60s: %s is '%.40s'; a number is right", call->function, name, text);
}

static bool take_options(const struct dump *call, const struct dump *plan, struct dumped *d,
                         struct message *why)
{
    struct problem_options *o = &d->options;
    double scale = 0, cap = 0, left = -1;
    bool given, block_scale;
    const char *causal = dump_argument(plan != NULL ? plan : call, "causal");
    *o = problem_defaults();
    if (!number(call, plan, "sm_scale", &o->scale_given, &scale, why) ||
        !number(call, plan, "bmm1_scale", &block_scale, &scale, why) ||
        !number(call, plan, "logits_soft_cap", &given, &cap, why) ||
        !number(call, plan, "window_left", &given, &left, why))
        return false;
    o->scale_given = o->scale_given || block_scale;
    if (strstr(call->function, "batch_decode_with_kv_cache") != NULL && !block_scale) {
        o->scale_given = true; /* its default is no scale at all */
        scale = 1;
    }
    o->scale = scale;
    o->softcap = cap > 0 ? cap : 0;
    o->mask.left = left >= 0 && left < 0x1p53 ? (int64_t)left : -1;
    o->mask.causal = causal != NULL && strcmp(causal, "true") == 0;
    o->mask.right = o->mask.causal ? 0 : -1;
    if (o->scale_given)
        text_append(&d->remarks, "scale %.17g taken from the dump\n", scale);
    if (o->mask.causal)
        text_append(&d->remarks, "causal taken from the dump\n");
    if (o->mask.left >= 0)
        text_append(&d->remarks, "window %lld to the left taken from the dump\n",
                    (long long)o->mask.left);
    if (o->softcap > 0)
        text_append(&d->remarks, "softcap %g taken from the dump\n", o->softcap);
    return true;
}

static bool alike(const struct key_places *p)
{
    for (int64_t b = 1; b < p->sequences; b++)
        if (p->keys[b] != p->keys[0] ||
            p->first_query[b + 1] - p->first_query[b] != p->first_query[1])
            return false;
    return true;
}

/* Rows of queries or outputs (tokens, H, D), or of LSE (tokens, H), as (B, H, N, D) or packed. */
static bool take_rows_of(const char *what, const struct tensor *t, const struct key_places *p,
                         bool packed, int rank, struct tensor *to, struct message *why)
{
    int64_t tokens = p->first_query[p->sequences],
            H = t->shape[rank > 1 && t->rank == rank ? 1 : 0];
    bool whole = t->rank == rank && t->shape[0] == tokens;
    bool single = t->rank == rank - 1 && tokens == 1; /* decoding: no dimension of tokens */
    H = single ? t->shape[0] : H;
    int64_t D = rank < 3 ? 1 : t->shape[t->rank - 1], N = packed ? tokens : p->first_query[1];
    if (!whole && !single)
        return refuse(why, "%s: its shape is %s; %lld rows of heads are right", what,
                      shape_text(t->rank, t->shape).text, (long long)tokens);
    const int64_t shape[4] = {packed ? 1 : p->sequences, H, N, D};
    if (!tensor_new(to, t->dtype, rank < 3 ? 3 : 4, shape, why))
        return false;
    for (int64_t n = 0; n < tokens; n++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t d = 0; d < D; d++) {
                int64_t b = packed || N == 0 ? 0 : n / N, row = packed ? n : n % N;
                double x = single ? tensor_get(t, h, d, 0, 0) : tensor_get(t, n, h, d, 0);
                tensor_set(to, b, h, row, rank < 3 ? 0 : d, x);
            }
    return true;
}

static double key_element(const struct key_places *p, int which, int64_t b, int64_t n, int64_t h,
                          int64_t d)
{
    int64_t row = p->first_slot[b] + n;
    int64_t page = p->page[p->first_page[b] + row / p->page_size] * p->fold;
    const struct tensor *t = which == 0 ? p->k : p->v;
    page += p->fold == 2 ? which : 0;
    row %= p->page_size;
    return tensor_get(t, page, p->hnd ? h : row, p->hnd ? row : h, d);
}

static bool gather_keys(const struct key_places *p, bool packed, int which, struct tensor *to,
                        struct message *why)
{
    int64_t total = 0;
    for (int64_t b = 0; b < p->sequences; b++)
        total += p->keys[b];
    const int64_t shape[4] = {packed ? 1 : p->sequences, p->heads, packed ? total : p->keys[0],
                              p->D};
    if (!tensor_new(to, (which == 0 ? p->k : p->v)->dtype, 4, shape, why))
        return false;
    for (int64_t b = 0, first = 0; b < p->sequences; first += p->keys[b++])
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t n = 0; n < p->keys[b]; n++)
                for (int64_t d = 0; d < p->D; d++)
                    tensor_set(to, packed ? 0 : b, h, packed ? first + n : n, d,
                               key_element(p, which, b, n, h, d));
    return true;
}

static bool take_lengths(const struct key_places *p, struct dumped *d, struct message *why)
{
    size_t bytes = ((size_t)p->sequences + 1) * sizeof *d->cu_q;
    d->cu_q = malloc(bytes);
    d->cu_k = malloc(bytes);
    if (d->cu_q == NULL || d->cu_k == NULL)
        return refuse(why, "no memory for %lld sequences", (long long)p->sequences);
    memcpy(d->cu_q, p->first_query, bytes);
    d->cu_k[0] = 0;
    for (int64_t b = 0; b < p->sequences; b++)
        d->cu_k[b + 1] = d->cu_k[b] + p->keys[b];
    d->options.cu_q = d->cu_q;
    d->options.cu_k = d->cu_k;
    d->options.sequences = p->sequences;
    return true;
}

static bool take_outputs(const char *folder, const struct dump *call, const struct key_places *p,
                         bool packed, struct dumped *d, struct message *why)
{
    const struct tensor *o = bundle_find(&call->outputs, "result");
    const struct tensor *lse = bundle_find(&call->outputs, "result_1");
    char *what = NULL;
    o = o != NULL ? o : bundle_find(&call->outputs, "result_0");
    if (o == NULL)
        return true;
    text_append(&what, "%s/outputs.safetensors", folder);
    bool ok = take_rows_of(what, o, p, packed, 3, &d->o, why) &&
              (lse == NULL || take_rows_of(what, lse, p, packed, 2, &d->lse, why));
    free(what);
    return ok;
}

static bool take_all(const char *folder, const struct dump *call, const struct dump *plan,
                     struct dumped *d, struct message *why)
{
    const struct tensor *q =
        dump_tensor(call, "q") != NULL ? dump_tensor(call, "q") : dump_tensor(call, "query");
    struct key_places p;
    if (q == NULL || q->rank < 2 || q->rank > 3)
        return refuse(why, "%.200s: no q of two or three dimensions among the inputs", folder);
    int64_t tokens = q->rank == 2 ? 1 : q->shape[0];
    if (!find_key_places(folder, call, plan, tokens, &p, &d->remarks, why))
        return false;
    bool packed = p.sequences > 1 && !alike(&p);
    if (packed)
        text_append(&d->remarks, "%lld sequences of different lengths, packed\n",
                    (long long)p.sequences);
    bool ok = take_options(call, plan, d, why) && (!packed || take_lengths(&p, d, why)) &&
              take_rows_of("q", q, &p, packed, 3, &d->q, why) &&
              gather_keys(&p, packed, 0, &d->k, why) && gather_keys(&p, packed, 1, &d->v, why) &&
              take_outputs(folder, call, &p, packed, d, why);
    key_places_free(&p);
    return ok;
}

/* "DIR/20260101_120000_000_pid7_CALL" as "CALL". */
static void name_call(char **name, const char *folder)
{
    const char *end = folder + strlen(folder), *start, *pid;
    while (end > folder + 1 && end[-1] == '/')
        end--;
    for (start = end; start > folder && start[-1] != '/'; start--)
        ;
    pid = strstr(start, "_pid");
    if (pid != NULL && pid < end && strchr(pid + 1, '_') != NULL && strchr(pid + 1, '_') + 1 < end)
        start = strchr(pid + 1, '_') + 1;
    text_append(name, "%.*s", (int)(end - start), start);
}

bool dumped_read(const char *path, struct dumped *d, struct message *why)
{
    struct dump call = {0}, plan = {0};
    char *folder = dump_find_call(path, why);
    *d = (struct dumped){0};
    bool ok = folder != NULL && dump_read(folder, &call, why) && dump_is_read(&call, why);
    bool planned = ok && dump_is_planned(&call);
    if (planned && !dump_find_earlier(folder, &call, "plan begin_forward", true, &plan, why)) {
        ok = false;
        if (why->text[0] == 0)
            refuse(why,
                   "%.200s: the page table was given to plan, and no folder beside this one "
                   "holds that call; FLASHINFER_DUMP_INCLUDE must take *Wrapper.plan, too",
                   folder);
    }
    ok = ok && is_plain_call(&call, why) && (!planned || is_plain_call(&plan, why));
    if (ok) {
        text_append(&d->remarks, "%s, as FlashInfer dumped it%s\n", call.function,
                    call.outputs.count == 0 ? ", without an output" : "");
        if (call.graph)
            text_append(&d->remarks, "recorded in a CUDA graph: the buffers' last contents, which "
                                     "several calls may share\n");
        name_call(&d->name, folder);
        ok = take_all(folder, &call, planned ? &plan : NULL, d, why);
    }
    dump_free(&call);
    dump_free(&plan);
    free(folder);
    if (!ok)
        dumped_free(d);
    return ok;
}

void dumped_free(struct dumped *d)
{
    struct tensor *all[] = {&d->q, &d->k, &d->v, &d->o, &d->lse};
    for (int i = 0; i < 5; i++)
        tensor_free(all[i]);
    free(d->cu_q);
    free(d->cu_k);
    free(d->name);
    free(d->remarks);
    *d = (struct dumped){0};
}
