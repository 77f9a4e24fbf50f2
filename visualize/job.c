/* job.c: see job.h. */
#include "visualize/job.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct job {
    pthread_t thread;
    pthread_mutex_t lock;
    bool done, ok;
    double start;
    const struct view *view; /* NULL: a change */
    enum scene_id id;
    const char *at;
    const struct scene *old;
    int parameter, direction;
    double place, time;
    struct scene made;
    struct message why;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool make_scene(struct job *j)
{
    if (j->view == NULL)
        return j->old->kind->change(j->old, j->parameter, j->direction, j->place, &j->made,
                                    &j->why);
    if (!view_open(j->view, j->id, &j->made, &j->why))
        return false;
    if (j->at == NULL || frame_at(&j->made, j->at, &j->time, &j->why))
        return true;
    j->made.kind->close(&j->made);
    return false;
}

static void *work(void *with)
{
    struct job *j = with;
    bool ok = make_scene(j);
    scenario_thread_done();
    pthread_mutex_lock(&j->lock);
    j->ok = ok;
    j->done = true;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static struct job *start(struct job job)
{
    struct job *j = malloc(sizeof *j);
    if (j == NULL)
        abort();
    *j = job;
    j->start = now();
    pthread_mutex_init(&j->lock, NULL);
    if (pthread_create(&j->thread, NULL, work, j) != 0)
        abort();
    return j;
}

struct job *job_open(const struct view *v, enum scene_id id, const char *at)
{
    return start((struct job){.view = v, .id = id, .at = at});
}

struct job *job_change(const struct scene *s, int parameter, int direction, double place)
{
    return start(
        (struct job){.old = s, .parameter = parameter, .direction = direction, .place = place});
}

bool job_done(struct job *j)
{
    pthread_mutex_lock(&j->lock);
    bool done = j->done;
    pthread_mutex_unlock(&j->lock);
    return done;
}

double job_seconds(const struct job *j)
{
    return now() - j->start;
}

bool job_take(struct job *j, struct scene *made, double *time, struct message *why)
{
    pthread_join(j->thread, NULL);
    pthread_mutex_destroy(&j->lock);
    bool ok = j->ok;
    *made = j->made;
    *time = j->time;
    *why = j->why;
    free(j);
    return ok;
}

void job_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}
