/* audit_judge.c: true values, bounds, and every run's outputs against them; rows are shared among
   threads, what is summed over them is summed in their order. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"

struct crew {
    const struct audit_work *work;
    atomic_llong next;
};

static void *work_thread(void *argument)
{
    struct crew *c = argument;
    for (int64_t i; (i = atomic_fetch_add(&c->next, 1)) < c->work->count;)
        c->work->work(c->work->context, i);
    arith_mpfr.thread_done();
    return NULL;
}

void audit_parallel(const struct audit_work *w, int threads)
{
    enum { MOST = 64 };
    pthread_t thread[MOST];
    struct crew crew = {.work = w};
    int started = 0;
    threads = threads < MOST ? threads : MOST;
    while (started < threads - 1 && started < w->count - 1 &&
           pthread_create(&thread[started], NULL, work_thread, &crew) == 0)
        started++;
    for (int64_t i; (i = atomic_fetch_add(&crew.next, 1)) < w->count;) {
        if (w->progress != NULL)
            w->progress(i, w->count);
        w->work(w->context, i);
    }
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    if (w->progress != NULL)
        w->progress(w->count, w->count);
}

/* A row's bounds, run by run: [bounded runs][dims]. */
struct judging {
    struct audit *a;
    struct rounding_budget budget[AUDIT_MOST_RUNS];
    enum format format[AUDIT_MOST_RUNS];
    int budgets;
    struct bound *bound; /* [budget][rows][dims] */
};

static void place_formats(struct audit *a)
{
    for (int n = 0; n < a->runs; n++) {
        int place = 0;
        while (place < a->formats && a->format[place] != a->run[n].format)
            place++;
        if (place == a->formats)
            a->format[a->formats++] = a->run[n].format;
        a->run[n].format_place = place;
    }
}

static void judge_one_row(void *context, int64_t i)
{
    struct judging *j = context;
    struct audit *a = j->a;
    const struct selection *s = &a->selection;
    struct head h = problem_head(&a->in.problem, s->unit[i]);
    int64_t dims = s->dims, all = audit_elements(a);
    double *rounded = malloc(((size_t)(a->formats * dims + h.D) + 1) * sizeof *rounded);
    struct bound *bounds = malloc(((size_t)(j->budgets * h.D) + 1) * sizeof *bounds);
    if (rounded == NULL || bounds == NULL)
        abort(); /* no memory for one row */
    double *A = rounded + a->formats * dims;
    truth_row(&h, s->row[i], s->dim, dims, a->format, a->formats, a->truth + i * dims, rounded);
    for (int f = 0; f < a->formats; f++)
        memcpy(a->rounded + f * all + i * dims, rounded + f * dims, (size_t)dims * sizeof *rounded);
    bound_budgets(&h, s->row[i], j->budget, j->format, j->budgets, bounds, A);
    for (int64_t k = 0; k < dims; k++) {
        a->A[i * dims + k] = A[s->dim[k]];
        for (int b = 0; b < j->budgets; b++)
            j->bound[b * all + i * dims + k] = bounds[b * h.D + s->dim[k]];
    }
    free(rounded);
    free(bounds);
}

static void count_kinds(struct audit_run *run, double got, int64_t i, bool of_kind)
{
    run->nan += isnan(got);
    run->infinite += isinf(got);
    run->of_kind += of_kind;
    if (of_kind && run->first_of_kind < 0)
        run->first_of_kind = i;
}

static void judge_bound(struct audit_run *run, const struct bound *b, double error, double ulp,
                        int64_t i)
{
    double used = error == 0 ? 0 : error / b->total;
    run->vacuous += b->vacuous;
    run->max_ratio = used > run->max_ratio ? used : run->max_ratio;
    run->max_bound = b->total / ulp > run->max_bound ? b->total / ulp : run->max_bound;
    if (error > b->total) {
        run->outside++;
        run->first_outside = run->first_outside < 0 ? i : run->first_outside;
    }
}

/* Adds one row to a run; its mean error goes to *mean, false when nothing could be averaged. */
static bool judge_row_of(const struct audit *a, struct audit_run *run, const struct bound *bound,
                         int64_t row, double *mean)
{
    int64_t dims = a->selection.dims, averaged = 0;
    double sum = 0, u = ldexp(1.0, -format_info(run->format)->precision);
    for (int64_t i = row * dims; i < (row + 1) * dims; i++) {
        double got = run->O[i], correct = audit_correct(a, run, i);
        double error = truth_error(&a->truth[i], got), ulp = truth_ulp(&a->truth[i], run->format);
        bool same = got == correct || (isnan(got) && isnan(correct));
        count_kinds(run, got, i, isnan(error));
        run->elements++;
        run->rounded += same;
        run->flips += !same && !run->measured;
        if (isnan(error) || !isfinite(got))
            continue;
        averaged++;
        sum += error / ulp;
        if (run->worst < 0 || fabs(error / ulp) > run->max_ulp) {
            run->max_ulp = fabs(error / ulp);
            run->worst = i;
        }
        if (error != 0 && fabs(error) / (u * a->A[i]) > run->max_roundoffs)
            run->max_roundoffs = fabs(error) / (u * a->A[i]);
        if (bound != NULL)
            judge_bound(run, &bound[i], fabs(error), ulp, i);
    }
    run->sum_ulp += sum;
    *mean = averaged > 0 ? sum / (double)averaged : 0;
    return averaged > 0;
}

/* Standard errors that the mean of the rows' means lies from 0, rows being independent. */
static double z_of(double sum, double squares, int64_t rows)
{
    double n = (double)rows, mean = sum / n;
    double variance = (squares - n * mean * mean) / (n - 1);
    bool none = !(variance > 0x1p-40 * mean * mean); /* what cancellation leaves is no spread */
    return mean == 0 ? 0 : none ? copysign(INFINITY, mean) : mean / sqrt(variance / n);
}

static void judge_run(struct judging *j, struct audit_run *run, const struct bound *bound)
{
    const struct audit *a = j->a;
    double sum = 0, squares = 0;
    for (int64_t row = 0; row < a->selection.rows; row++) {
        double mean;
        if (!judge_row_of(a, run, bound, row, &mean))
            continue;
        run->rows_averaged++;
        sum += mean;
        squares += mean * mean;
    }
    run->z = run->rows_averaged >= AUDIT_FEW_ROWS ? z_of(sum, squares, run->rows_averaged) : 0;
}

bool audit_judge(struct audit *a, audit_progress *progress, struct message *why)
{
    struct judging j = {.a = a};
    int place[AUDIT_MOST_RUNS];
    size_t all = (size_t)audit_elements(a) + 1;
    place_formats(a);
    for (int n = 0; n < a->runs; n++) {
        struct audit_run *run = &a->run[n];
        run->bounded = audit_budget(run, &a->in.problem, &j.budget[j.budgets], &run->unbounded);
        place[n] = j.budgets;
        j.format[j.budgets] = run->format;
        j.budgets += run->bounded;
    }
    a->truth = malloc(all * sizeof *a->truth);
    a->rounded = malloc(all * (size_t)a->formats * sizeof *a->rounded);
    a->A = malloc(all * sizeof *a->A);
    j.bound = malloc(all * ((size_t)j.budgets + 1) * sizeof *j.bound);
    bool ok = (a->truth != NULL && a->rounded != NULL && a->A != NULL && j.bound != NULL) ||
              refuse(why, "no memory to judge %lld outputs", (long long)audit_elements(a));
    if (ok)
        audit_parallel(&(struct audit_work){a->selection.rows, judge_one_row, &j, progress},
                       a->threads);
    for (int n = 0; ok && n < a->runs; n++)
        judge_run(&j, &a->run[n],
                  a->run[n].bounded ? j.bound + place[n] * audit_elements(a) : NULL);
    for (int n = 0; ok && n < a->runs; n++)
        if (a->run[n].lse.stored != NULL)
            ok = audit_lse_judge(&a->run[n].lse, &a->in.problem, &a->selection, a->threads, why);
    for (int n = 0; ok && n < a->runs; n++)
        if (a->run[n].measured && audit_run_verdict(&a->run[n]) == AUDIT_OUTSIDE &&
            !audit_only_lse(&a->run[n]))
            gate_try(&a->in.problem, &a->run[n].whole, &a->run[n].gate);
    free(j.bound);
    return ok;
}
