/* scenario_select.c: which rows of the output are looked at.

   Rows come in the order of the output tensor: batch, head, position.  --sample draws without
   replacement (Knuth's selection sampling) from a splitmix64 stream: the same rows everywhere. */
#include <stdlib.h>

#include "simulator/scenario_parts.h"

/* What the options mark; NULL marks everything. */
struct marks {
    bool *batch, *head, *row, *dim;
};

static bool read_marks(const struct scenario *s, enum option o, int64_t size, bool **marks,
                       struct message *why)
{
    return s->value[o] == NULL || parse_marks(option_info(o)->name, s->value[o], size, marks, why);
}

static int64_t longest_head(const struct problem *p)
{
    int64_t most = 0;
    for (int64_t n = 0; n < problem_units(p); n += p->Hq) {
        int64_t rows = problem_head(p, n).Nq;
        most = rows > most ? rows : most;
    }
    return most;
}

/* Groups: packed sequences, or batches. */
static int64_t group_count(const struct problem *p)
{
    return p->cu_q != NULL ? p->sequences : p->B;
}

/* The (outer, inner) places of the output tensor in order: packed sequences lie inside a head. */
static int64_t unit_at(const struct problem *p, int64_t n)
{
    if (p->cu_q == NULL)
        return n;
    int64_t head = n / p->sequences, sequence = n % p->sequences;
    return sequence * p->Hq + head;
}

static void add_rows(struct selection *selection, const struct problem *p, const struct marks *m,
                     int64_t unit)
{
    struct head h = problem_head(p, unit);
    int64_t group = p->cu_q != NULL ? h.sequence : h.batch;
    selection->rows_total += h.Nq;
    if ((m->batch != NULL && !m->batch[group]) || (m->head != NULL && !m->head[h.head]))
        return;
    for (int64_t r = 0; r < h.Nq; r++) {
        if (m->row != NULL && !m->row[r])
            continue;
        selection->unit[selection->rows] = unit;
        selection->row[selection->rows++] = r;
    }
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A whole number below `most`, all equally likely. */
static uint64_t random_below(uint64_t *state, uint64_t most)
{
    uint64_t unfair = -most % most, x;
    do
        x = next_random(state);
    while (x < unfair);
    return x % most;
}

static bool sample(const struct scenario *s, struct selection *selection, struct message *why)
{
    int64_t wanted, seed = 1, kept = 0;
    if (s->value[OPTION_SAMPLE] == NULL)
        return s->value[OPTION_SAMPLE_SEED] == NULL ||
               refuse(why, "--sample-seed goes with --sample N");
    if (!parse_integer("--sample", s->value[OPTION_SAMPLE], 1, INT64_MAX, &wanted, why))
        return false;
    if (s->value[OPTION_SAMPLE_SEED] != NULL &&
        !parse_integer("--sample-seed", s->value[OPTION_SAMPLE_SEED], 0, INT64_MAX, &seed, why))
        return false;
    uint64_t state = (uint64_t)seed;
    for (int64_t i = 0; i < selection->rows && kept < wanted; i++) {
        uint64_t left = (uint64_t)(selection->rows - i);
        if (random_below(&state, left) >= (uint64_t)(wanted - kept))
            continue;
        selection->unit[kept] = selection->unit[i];
        selection->row[kept++] = selection->row[i];
    }
    selection->rows = kept;
    return true;
}

static bool select_dims(struct selection *selection, const struct problem *p, const bool *marked,
                        struct message *why)
{
    selection->dim = malloc((size_t)p->D * sizeof *selection->dim);
    if (selection->dim == NULL)
        return refuse(why, "--dims: no memory");
    for (int64_t d = 0; d < p->D; d++)
        if (marked == NULL || marked[d])
            selection->dim[selection->dims++] = d;
    return true;
}

static bool select_rows(const struct scenario *s, const struct problem *p, const struct marks *m,
                        struct selection *selection, struct message *why)
{
    int64_t units = problem_units(p), rows = 0;
    for (int64_t n = 0; n < units; n++)
        rows += problem_head(p, n).Nq;
    size_t bytes = (size_t)(rows > 0 ? rows : 1) * sizeof *selection->row;
    selection->unit = malloc(bytes);
    selection->row = malloc(bytes);
    if (selection->unit == NULL || selection->row == NULL)
        return refuse(why, "no memory to select among %lld rows", (long long)rows);
    for (int64_t n = 0; n < units; n++)
        add_rows(selection, p, m, unit_at(p, n));
    return sample(s, selection, why) && select_dims(selection, p, m->dim, why);
}

bool scenario_select(const struct scenario *s, const struct problem *p, struct selection *selection,
                     struct message *why)
{
    struct marks m = {0};
    *selection = (struct selection){0};
    bool ok = read_marks(s, OPTION_BATCH, group_count(p), &m.batch, why) &&
              read_marks(s, OPTION_HEADS, p->Hq, &m.head, why) &&
              read_marks(s, OPTION_ROWS, longest_head(p), &m.row, why) &&
              read_marks(s, OPTION_DIMS, p->D, &m.dim, why) &&
              select_rows(s, p, &m, selection, why);
    free(m.batch);
    free(m.head);
    free(m.row);
    free(m.dim);
    if (!ok)
        selection_free(selection);
    return ok;
}

void selection_free(struct selection *selection)
{
    free(selection->unit);
    free(selection->row);
    free(selection->dim);
    *selection = (struct selection){0};
}
