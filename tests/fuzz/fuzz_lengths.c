/* fuzz_lengths.c: any text as --cu-seqlens, and behind a zero byte another as --cu-seqlens-k: a
   list that is taken is read again as it is written, and a problem that takes the lists cuts its
   rows into sequences without a hole. */
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem.h"
#include "simulator/scenario_parts.h"

enum { MOST_ROWS = 40 };

static bool parse(const char *text, int64_t **list, int64_t *count)
{
    struct message why = {""};
    bool ok = parse_list("--cu-seqlens", text, list, count, &why);
    fuzz_require(ok ? *count >= 1 : why.text[0] != 0 && *list == NULL,
                 "a list has numbers, or a refusal says why");
    return ok;
}

/* Written out, a text without needless zeros is what it was; any other becomes shorter. */
static void print_and_parse(const char *read, const int64_t *list, int64_t count)
{
    char *text = fuzz_allocate((size_t)count * 24), *at = text;
    int64_t *back, back_count;
    for (int64_t i = 0; i < count; i++)
        at += sprintf(at, "%s%" PRId64, i > 0 ? "," : "", list[i]);
    fuzz_require(strlen(text) < strlen(read) || strcmp(text, read) == 0, "no number is another");
    fuzz_require(parse(text, &back, &back_count) && back_count == count &&
                     memcmp(list, back, (size_t)count * sizeof *list) == 0,
                 "a list is read as it was written");
    free(back);
    free(text);
}

/* A tensor of one head with as many rows as the list ends with, as far as that is few. */
static struct tensor rows_for(const int64_t *list, int64_t count)
{
    struct tensor t;
    struct message why;
    int64_t last = list[count - 1];
    int64_t shape[2] = {0 <= last && last <= MOST_ROWS ? last : MOST_ROWS, 1};
    fuzz_require(tensor_new(&t, FORMAT_FP32, 2, shape, &why),
                 "there is memory for the test itself");
    return t;
}

static void require_whole(const struct problem *p)
{
    int64_t q = 0, k = 0, seen = 0;
    fuzz_require(problem_units(p) == p->sequences, "there is a unit for each sequence");
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        fuzz_require(h.q0 == q && h.k0 == k && h.Nq >= 0 && h.Nk >= 0,
                     "a sequence begins where the one before ended");
        q += h.Nq;
        k += h.Nk;
        for (int64_t r = 0; r < h.Nq; r++)
            for (int64_t c = 0; c < h.Nk; c++)
                seen += sees(&h, r, c);
        fuzz_require(seen <= q * k, "no more is seen than is there");
    }
    fuzz_require(q == p->Nq && k == p->Nk, "the sequences hold every row");
}

static void pack(const int64_t *cu_q, const int64_t *cu_k, int64_t count)
{
    struct problem p;
    struct message why = {""};
    struct tensor q = rows_for(cu_q, count), k = rows_for(cu_k, count), v = rows_for(cu_k, count);
    struct problem_options options = problem_defaults();
    options.cu_q = cu_q;
    options.cu_k = cu_k;
    options.sequences = count - 1;
    options.mask.causal = true;
    if (problem_new(&p, &q, &k, &v, &options, &why)) {
        require_whole(&p);
        problem_free(&p);
    } else {
        fuzz_require_sentence(&why);
    }
    tensor_free(&q);
    tensor_free(&k);
    tensor_free(&v);
}

void fuzz_lengths(const uint8_t *data, size_t size)
{
    char *text = fuzz_allocate(size + 1);
    int64_t *q, *k, q_count, k_count;
    memcpy(text, data, size);
    text[size] = 0;
    size_t length = strlen(text);
    if (parse(text, &q, &q_count)) {
        print_and_parse(text, q, q_count);
        if (length < size && parse(text + length + 1, &k, &k_count)) {
            pack(q, k, q_count < k_count ? q_count : k_count);
            free(k);
        } else {
            pack(q, q, q_count);
        }
        free(q);
    }
    free(text);
}
