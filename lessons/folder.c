/* folder.c: see folder.h.  A worker is a process, not a thread: it may kill every orphan it finds.
   Workers take the next file from a counter in shared memory and leave a row there; run by root,
   each has a stranger of its own, so that no student's code reaches another's. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "lessons/folder.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator/scenario_parts.h"

enum { MOST_JOBS = 64 };

struct row {
    bool done, ok; /* not ok: the grader is at fault, with a sentence */
    int points;
    double seconds;
    char sentence[320];
};
struct shared {
    atomic_int next;
    struct row rows[];
};
struct roll {
    const struct course *course;
    const struct lab *lab;
    const char *folder;
    struct dirent **names;
    int count;
    struct shared *shared;
};

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_c(const struct dirent *e)
{
    return e->d_name[0] != '.' && ends_with(e->d_name, ".c");
}

static int is_cuda(const struct dirent *e)
{
    return e->d_name[0] != '.' && ends_with(e->d_name, ".cu");
}

/* What a row says of a whole file: the first sentence of a property that failed and may be told. */
static const char *first_sentence(const struct graded *x)
{
    if (!x->built.ok)
        return x->built.sentence;
    for (int i = 0; i < MAX_PROPERTIES && x->lab->properties[i].name != NULL; i++)
        if (x->grading.results[i].failed && result_told(x, i))
            return x->grading.results[i].sentence;
    return "ok";
}

static void student_name(const struct dirent *e, char name[256])
{
    snprintf(name, 256, "%.*s", (int)(strrchr(e->d_name, '.') - e->d_name), e->d_name);
}

static void grade_one(const struct roll *roll, int n)
{
    struct graded x;
    struct message why;
    struct row *row = &roll->shared->rows[n];
    char path[1024], student[256];
    snprintf(path, sizeof path, "%s/%s", roll->folder, roll->names[n]->d_name);
    student_name(roll->names[n], student);
    row->ok = course_grade(roll->course, roll->lab, path, student, &x, &why);
    row->points = row->ok ? result_points(&x) : 0;
    row->seconds = row->ok ? x.seconds : 0;
    snprintf(row->sentence, sizeof row->sentence, "%.319s",
             row->ok ? first_sentence(&x) : why.text);
    row->done = true;
}

static void work(const struct roll *roll, int worker)
{
    process_stranger(worker);
    for (int n; (n = atomic_fetch_add(&roll->shared->next, 1)) < roll->count;)
        grade_one(roll, n);
}

/* A file whose row is not done was in the hands of a worker that ended; it is graded here. */
static bool work_all(const struct roll *roll, int jobs, struct message *why)
{
    pid_t workers[MOST_JOBS];
    for (int w = 0; w < jobs; w++) {
        workers[w] = fork();
        if (workers[w] == 0) {
            work(roll, w);
            _exit(0);
        }
        if (workers[w] < 0 && w == 0)
            return refuse(why, "no process for the grading could be started");
    }
    for (int w = 0; w < jobs; w++)
        if (workers[w] > 0)
            waitpid(workers[w], NULL, 0);
    for (int n = 0; n < roll->count; n++)
        if (!roll->shared->rows[n].done)
            grade_one(roll, n);
    return true;
}

/* A cell of CSV, in quotes where it must be or `quoted`. */
static void print_cell(struct report *r, const char *text, bool quoted)
{
    quoted = quoted || strpbrk(text, ",\"\n\r") != NULL;
    report_text(r, "%s", quoted ? "\"" : "");
    for (; *text != 0; text++)
        report_text(r, *text == '"' ? "\"\"" : "%c", *text);
    report_text(r, "%s", quoted ? "\"" : "");
}

static void print_row(struct report *r, struct json *list, const struct roll *roll, int n)
{
    const struct row *row = &roll->shared->rows[n];
    const char *said = row->sentence;
    int most = lab_points(roll->lab);
    struct json *j = json_object(list, NULL);
    char student[256];
    student_name(roll->names[n], student);
    json_string(j, "student", student);
    json_whole(j, "points", row->points);
    json_string(j, "result", said);
    json_real(j, "seconds", row->seconds);
    report_row(r, "%s\t%d\t%d\t%s", student, row->points, most, said);
    print_cell(r, student, false);
    report_text(r, ",%d,%d,", row->points, most);
    print_cell(r, said, true);
    report_text(r, "\n");
}

static bool print_rows(struct report *r, const struct roll *roll, struct message *why)
{
    struct json *list = json_list(r->json, "students");
    report_text(r, "student,points,max_points,result\n");
    report_row(r, "student\tpoints\tmax_points\tresult");
    for (int n = 0; n < roll->count; n++) {
        if (!roll->shared->rows[n].ok)
            return refuse(why, "%s", roll->shared->rows[n].sentence);
        print_row(r, list, roll, n);
    }
    return true;
}

static bool read_jobs(const struct scenario *s, int files, int *jobs, struct message *why)
{
    const char *text = s->value[OPTION_JOBS];
    int64_t n = sysconf(_SC_NPROCESSORS_ONLN);
    if (text != NULL && !parse_integer("--jobs", text, 1, MOST_JOBS, &n, why))
        return false;
    n = n < 1 ? 1 : n > MOST_JOBS ? MOST_JOBS : n;
    *jobs = n < files ? (int)n : files;
    return true;
}

bool grade_folder(struct report *r, const struct scenario *s, const struct course *c,
                  const struct lab *lab, const char *folder, struct message *why)
{
    struct roll roll = {.course = c, .lab = lab, .folder = folder};
    int jobs;
    roll.count = scandir(folder, &roll.names, lab->cuda ? is_cuda : is_c, by_name);
    if (roll.count <= 0)
        return refuse(why, "%.200s: no file STUDENT%s is there", folder, lab->cuda ? ".cu" : ".c");
    size_t size = sizeof *roll.shared + (size_t)roll.count * sizeof roll.shared->rows[0];
    roll.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = roll.shared != MAP_FAILED || refuse(why, "no memory for %d files", roll.count);
    ok = ok && read_jobs(s, roll.count, &jobs, why) && work_all(&roll, jobs, why) &&
         print_rows(r, &roll, why);
    if (roll.shared != MAP_FAILED)
        munmap(roll.shared, size);
    for (int n = 0; n < roll.count; n++)
        free(roll.names[n]);
    free(roll.names);
    return ok;
}
