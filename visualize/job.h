/* job.h: a scene made in a thread, while another one is shown. */
#ifndef FLASHULP_VISUALIZE_JOB_H
#define FLASHULP_VISUALIZE_JOB_H

#include "visualize/view.h"

struct job;
/* v and its scenario must stay until the job is taken.  `at` as --at has it, or NULL. */
struct job *job_open(const struct view *v, enum scene_id id, const char *at);
/* A scene with another parameter; s must stay, too. */
struct job *job_change(const struct scene *s, int parameter, int direction, double place);
bool job_done(struct job *j);
double job_seconds(const struct job *j);
/* What it made, after job_done; ends it.  False: the sentence. */
bool job_take(struct job *j, struct scene *made, double *time, struct message *why);
/* Some milliseconds of sleep. */
void job_pause(void);

#endif
