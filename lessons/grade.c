/* grade.c: properties, the calls into the student's process, and what every call is held to. */
#include "lessons/grade.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/splitmix.h"

enum { MEBI = 1 << 20, RESTARTS = 3, EMULATOR_MEMORY = 3840 };

static const uint32_t POISON = 0x7FE5A5A5;

#define LAB(name) extern const struct lab lab_##name;
#include "lessons/labs.def"
#undef LAB
static const struct lab *const all_labs[] = {
#define LAB(name) &lab_##name,
#include "lessons/labs.def"
#undef LAB
};
enum { LABS = sizeof all_labs / sizeof all_labs[0] };

const struct lab *lab_at(int n)
{
    return n >= 0 && n < LABS ? all_labs[n] : NULL;
}

const struct lab *lab_from_name(const char *name, struct message *why)
{
    char *end, list[LABS * 4] = "";
    long number = strtol(name, &end, 10);
    for (int n = 0; n < LABS; n++) {
        bool same = *end == 0 && end != name ? number == strtol(all_labs[n]->number, NULL, 10)
                                             : strcmp(all_labs[n]->folder, name) == 0;
        if (same)
            return all_labs[n];
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n > 0 ? " " : "",
                 all_labs[n]->number);
    }
    refuse(why, "no lab is called \"%.40s\"; the labs are %s", name, list);
    return NULL;
}

struct allowance lab_allowance(void)
{
    return (struct allowance){.seconds = 1, .memory = 256, .output = 1000};
}

int lab_points(const struct lab *lab)
{
    int sum = 0;
    for (int i = 0; i < MAX_PROPERTIES; i++)
        sum += lab->properties[i].points;
    return sum;
}

int points_earned(const struct grading *g, bool hidden_too)
{
    int sum = 0;
    for (int i = 0; i < MAX_PROPERTIES; i++)
        if (g->results[i].begun && !g->results[i].failed &&
            (hidden_too || !g->lab->properties[i].hidden))
            sum += g->lab->properties[i].points;
    return sum;
}

bool failed(const struct grading *g)
{
    return g->results[g->current].failed;
}

void wrong(struct grading *g, const char *format, ...)
{
    struct finding *r = &g->results[g->current];
    va_list arguments;
    if (r->failed)
        return;
    r->failed = true;
    int n = g->where[0] != 0 ? snprintf(r->sentence, sizeof r->sentence, "%s: ", g->where) : 0;
    va_start(arguments, format);
    vsnprintf(r->sentence + n, sizeof r->sentence - (size_t)n, format, arguments);
    va_end(arguments);
}

void differs(struct grading *g, const char *format, ...)
{
    struct finding *r = &g->results[g->current];
    va_list arguments;
    if (r->difference[0] != 0)
        return;
    int n = snprintf(r->difference, sizeof r->difference, "%s%s", g->where,
                     g->where[0] != 0 ? ": " : "");
    va_start(arguments, format);
    vsnprintf(r->difference + n, sizeof r->difference - (size_t)n, format, arguments);
    va_end(arguments);
}

void see(struct grading *g, const char *command)
{
    struct finding *r = &g->results[g->current];
    if (r->see[0] == 0 && strlen(command) < sizeof r->see)
        strcpy(r->see, command);
}

void at(struct grading *g, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->where, sizeof g->where, format, arguments);
    va_end(arguments);
}

/* --- the fields of a state --- */

struct extent {
    const char *name;
    size_t offset, count; /* in the state; floats */
    size_t columns;       /* of a row as it lies there */
};
static const struct extent extents[FIELD_COUNT] = {
#define FIELD(field, rows, columns)                                                                \
    {#field, offsetof(struct state, field), sizeof(((struct state *)0)->field) / sizeof(float),    \
     sizeof(((struct state *)0)->field[0]) / sizeof(float)},
#include "lessons/fields.def"
#undef FIELD
};

/* How many rows and columns of field f count. */
static void used(const struct state *s, enum field f, size_t *rows, size_t *columns)
{
    struct {
        int rows, keys, dim, parts, count, one;
    } size = {s->rows, s->keys, s->dim, s->parts, s->count, 1};
    static const size_t zero = 0;
    *rows = *columns = zero;
    switch (f) {
#define FIELD(name, of_rows, of_columns)                                                           \
    case FIELD_##name:                                                                             \
        *rows = (size_t)size.of_rows;                                                              \
        *columns = (size_t)size.of_columns;                                                        \
        break;
#include "lessons/fields.def"
#undef FIELD
    case FIELD_COUNT:
        assert(false);
    }
}

void fresh(struct state *s, int rows, int keys, int dim)
{
    *s = (struct state){.rows = rows,
                        .keys = keys,
                        .dim = dim,
                        .Nq = rows,
                        .Nk = keys,
                        .steps = 1,
                        .left = -1,
                        .right = -1,
                        .scale = 1};
    for (int f = 0; f < FIELD_COUNT; f++)
        for (size_t i = 0; i < extents[f].count; i++)
            memcpy((char *)s + extents[f].offset + i * sizeof(float), &POISON, sizeof POISON);
}

bool is_poison(float x)
{
    return memcmp(&x, &POISON, sizeof x) == 0;
}

/* Did the function change a field that it was only given, or write beyond the sizes? */
static bool kept_within(struct grading *g, int step, const struct state *before,
                        const struct state *after)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const struct extent *e = &extents[f];
        const char *was = (const char *)before + e->offset, *is = (const char *)after + e->offset;
        bool writes = (g->lab->writes[step] >> f & 1) != 0;
        size_t rows, columns;
        used(before, (enum field)f, &rows, &columns);
        for (size_t i = 0; i < e->count; i++) {
            size_t r = i / e->columns, c = i % e->columns;
            bool inside = r < rows && c < columns;
            if (memcmp(was + i * sizeof(float), is + i * sizeof(float), sizeof(float)) == 0 ||
                (writes && inside))
                continue;
            if (inside)
                wrong(g, "%s changed %s, which it is only given", g->lab->steps[step], e->name);
            else
                wrong(g, "%s wrote beyond the sizes: %s", g->lab->steps[step],
                      entry_name(e->name, (int)r, e->columns > 1 ? (int)c : -1).text);
            return false;
        }
    }
    if (memcmp(before, after, offsetof(struct state, tile)) != 0 ||
        memcmp(&before->causal, &after->causal, 3 * sizeof(int)) != 0 ||
        before->scale != after->scale) {
        wrong(g, "%s changed the sizes or the mask it is given", g->lab->steps[step]);
        return false;
    }
    return true;
}

/* --- the student's process --- */

static bool start(struct grading *g)
{
    struct message why;
    const struct allowance *a = &g->lab->allowance;
    struct limits limits = {.folder = g->built->folder,
                            .seconds = a->seconds,
                            .memory = (a->memory + (g->built->cuda ? EMULATOR_MEMORY : 0ll)) * MEBI,
                            .file_bytes = 0,
                            .print_bytes = a->output * 1000ll,
                            .address_space = true,
                            .stranger = true,
                            .talks = true,
                            .confined = true,
                            .starts = g->built->cuda}; /* reports look lines up */
    char *argv[] = {"./lab", NULL};
    g->running = process_start(&g->process, &limits, argv, &why);
    if (!g->running)
        wrong(g, "%s", why.text);
    return g->running;
}

/* " at line 31", where the first frame of the crash that lies in the student's file is; or "".  The
   frames it printed: the handler, the signal's return, where it crashed, and that one's callers,
   whose addresses are those behind the call. */
static void crash_line(struct grading *g, char *line, size_t room)
{
    char command[1024] = "addr2line -e lab 2>/dev/null";
    int frame = 0;
    line[0] = 0;
    for (const char *p = strstr(g->process.said, "./lab"); p != NULL; frame++) {
        const char *from = strstr(p, "[0x"), *end = strchr(p, '\n');
        if (strncmp(p, "./lab", 5) == 0 && from != NULL && (end == NULL || from < end) &&
            strlen(command) < 900) {
            unsigned long at = strtoul(from + 1, NULL, 16);
            snprintf(command + strlen(command), 40, " 0x%lx", at - (frame > 2));
        }
        p = end != NULL ? end + 1 : NULL;
    }
    struct limits limits = {
        .folder = g->built->folder, .seconds = 2, .file_bytes = 0, .print_bytes = MEBI};
    char *argv[] = {"/bin/sh", "-c", command, NULL};
    struct process p;
    struct message why;
    if (strstr(command, "0x") == NULL || !process_start(&p, &limits, argv, &why))
        return;
    process_wait(&p);
    const char *found = strstr(p.said, "lab.c:");
    if (found != NULL)
        snprintf(line, room, " at line %d", atoi(found + 6));
}

static void gone(struct grading *g, int step)
{
    char line[32];
    process_kill(&g->process);
    g->running = false;
    struct process *p = &g->process;
    g->spent += process_clock() - (p->deadline - p->limits.seconds);
    crash_line(g, line, sizeof line);
    if (p->ending == ENDING_EXIT)
        wrong(g, "the program ended by itself (status %d) where %s was called", p->code,
              g->lab->steps[step]);
    else if (p->ending == ENDING_SIGNAL && p->code == SIGKILL)
        wrong(g, "the program stopped answering where %s was called", g->lab->steps[step]);
    else
        wrong(g, "%s %s%s", g->lab->steps[step], process_ending(p).text, line);
}

/* What it printed is shown, and counts for nothing. */
static void keep_words(struct grading *g)
{
    if (g->said[0] == 0 && g->process.said_length > 0)
        snprintf(g->said, sizeof g->said, "%.500s", g->process.said);
}

bool call(struct grading *g, int step, struct state *s)
{
    struct exchange out = {.step = (uint32_t)step, .ticket = ++g->ticket, .state = *s}, back;
    if (failed(g))
        return false;
    if (!g->running &&
        (g->restarts++ > RESTARTS || g->spent > g->lab->allowance.seconds || !start(g))) {
        wrong(g, "not tried: the program ended too often");
        return false;
    }
    bool answered = process_talk(&g->process, &out, sizeof out, &back, sizeof back);
    keep_words(g);
    if (!answered) {
        gone(g, step);
        return false;
    }
    if (back.ticket != out.ticket || back.step != out.step) {
        wrong(g, "what came back on descriptor 4 is not the answer to %s%s", g->lab->steps[step],
              g->built->cuda ? ": memory beyond the kernel's own was written" : "");
        process_kill(&g->process);
        g->running = false;
        return false;
    }
    back.report[sizeof back.report - 1] = 0;
    if (g->watched && back.report[0] != 0) {
        wrong(g, "%s", back.report);
        return false;
    }
    *s = back.state;
    return kept_within(g, step, &out.state, s);
}

void grade_lab(const struct lab *lab, const struct built *b, const struct variant *v,
               struct grading *g)
{
    *g = (struct grading){.lab = lab, .variant = *v, .built = b, .random = v->seed};
    for (int n = 0; n < MAX_PROPERTIES && lab->properties[n].name != NULL; n++) {
        g->current = n;
        g->results[n].begun = true;
        g->where[0] = 0;
        lab->properties[n].judge(g);
    }
    if (g->running)
        process_kill(&g->process);
}

/* --- comparing and drawing --- */

bool near(float got, double want, double size)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) && !is_poison(got);
    if (isinf(want) || isinf(got))
        return (double)got == want;
    return fabs((double)got - want) <= 0x1p-15 * fmax(fabs(want), size) + 1e-30;
}

struct name_text entry_name(const char *field, int r, int c)
{
    struct name_text t;
    if (c < 0)
        snprintf(t.text, sizeof t.text, "%s[%d]", field, r);
    else
        snprintf(t.text, sizeof t.text, "%s[%d][%d]", field, r, c);
    return t;
}

bool expect(struct grading *g, const char *name, float got, double want, double size)
{
    if (near(got, want, size))
        return true;
    if (is_poison(got))
        wrong(g, "%s was never written", name);
    else
        wrong(g, "%s = %.6g, want %.6g", name, (double)got, want);
    return false;
}

int draw_between(struct grading *g, int least, int most)
{
    return (int)splitmix_between(&g->random, least, most);
}

float draw(struct grading *g)
{
    return (float)(round(splitmix_normal(&g->random) * 1024) / 1024);
}

static void draw_into(struct grading *g, float *x, int rows, int columns, int stride)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            x[r * stride + c] = draw(g);
}

void draw_inputs(struct grading *g, struct state *s)
{
    draw_into(g, &s->Q[0][0], s->rows, s->dim, MAX_DIM);
    draw_into(g, &s->K[0][0], s->keys, s->dim, MAX_DIM);
    draw_into(g, &s->V[0][0], s->keys, s->dim, MAX_DIM);
}

void draw_scores(struct grading *g, struct state *s)
{
    draw_into(g, &s->S[0][0], s->rows, s->keys, MAX_KEYS);
    draw_into(g, &s->V[0][0], s->keys, s->dim, MAX_DIM);
}
