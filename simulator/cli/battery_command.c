/* battery_command.c: the command of `flashulp battery` with its places filled, run, and its output
   read.

   {q} {k} {v} {o} {lse}: files; {do} {dq} {dk} {dv}: the gradient of O and those that are due;
   {scale} {softcap}: numbers; {causal}: 0 or 1; {window}: L,R;
   {length}: how many keys of the buffer count.  {causal?TEXT}: TEXT where the case is causal, else
   nothing; likewise the others.  Other braces are the shell's. */
#include "simulator/cli/battery.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulator/battery_gradient.h"
#include "simulator/scenario_parts.h"

static const char *const places[] = {"q",       "k",     "v",      "o",  "lse", "causal", "window",
                                     "softcap", "scale", "length", "do", "dq",  "dk",     "dv"};
enum { PLACES = sizeof places / sizeof places[0], PLACE_O = 3, PLACE_DO = 10 };

/* The place that begins at `at` ("{causal}", "{causal?--causal}"): its number, where its text
   starts and how long all of it is; -1: none, -2: one that is misspelt. */
static int place_at(const char *at, const char **text, size_t *length)
{
    size_t name = at[0] == '{' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
    char end = at[0] == '{' ? at[1 + name] : 0;
    if (name == 0 || (end != '}' && end != '?') || strchr(at, '}') == NULL)
        return -1;
    *length = (size_t)(strchr(at, '}') - at) + 1;
    *text = end == '?' ? at + name + 2 : NULL;
    for (int i = 0; i < PLACES; i++)
        if (strlen(places[i]) == name && strncmp(places[i], at + 1, name) == 0)
            return i;
    return -2;
}

bool battery_command(const char *text, struct battery_command *command, struct message *why)
{
    bool has[PLACES] = {false};
    for (const char *at = text; *at != 0; at++) {
        const char *inner;
        size_t length;
        int place = place_at(at, &inner, &length);
        struct quoted word = quoted(at + 1, strcspn(at + 1, "}?"));
        const char *near = place == -2 ? nearest_name(word.text, places, PLACES) : NULL;
        if (near != NULL)
            return refuse(why, "--command: no place is called {%s}; did you mean {%s}?", word.text,
                          near);
        if (place >= 0)
            has[place] = true;
    }
    for (int i = PLACE_DO + 1; i < PLACES; i++)
        if (has[i] != has[PLACE_DO])
            return refuse(why,
                          "--command has {%s} and no {%s}; a backward pass is asked for by all of "
                          "{do} {dq} {dk} {dv}",
                          places[has[i] ? i : PLACE_DO], places[has[i] ? PLACE_DO : i]);
    for (int i = 0; i < 4; i++)
        if (!has[i] && (i != PLACE_O || !has[PLACE_DO]))
            return refuse(why,
                          "--command has no {%s}; './theirs {q} {k} {v} {o}' is right: Q, K and V "
                          "to read, O to write, as .npy",
                          places[i]);
    *command = (struct battery_command){text,   has[PLACE_O], has[4], has[5],
                                        has[6], has[7],       has[9], has[PLACE_DO]};
    return true;
}

const char *battery_lacks(const struct battery_command *command, const struct battery_case *c)
{
    if (c->causal && !command->has_causal)
        return "{causal}";
    if ((c->left >= 0 || c->right >= 0) && !command->has_window)
        return "{window}";
    if (c->softcap > 0 && !command->has_softcap)
        return "{softcap}";
    return c->spare > 0 && !command->has_length ? "{length}" : NULL;
}

/* A path as a word of the shell. */
static void append_word(char **text, const char *word)
{
    text_append(text, "'");
    for (const char *at = word; *at != 0; at++)
        text_append(text, *at == '\'' ? "'\\''" : "%c", *at);
    text_append(text, "'");
}

static void append_place(char **text, int place, const struct problem *p, const char *folder)
{
    char path[1024];
    if (place <= 4 || place >= PLACE_DO) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, places[place]);
        append_word(text, path);
    }
    if (place == 5)
        text_append(text, "%d", p->mask.causal);
    if (place == 6)
        text_append(text, "%" PRId64 ",%" PRId64, p->mask.left, p->mask.right);
    if (place == 7)
        text_append(text, "%.17g", p->softcap);
    if (place == 8)
        text_append(text, "%.17g", p->scale.value / sqrt((double)p->scale.root));
    if (place == 9)
        text_append(text, "%" PRId64, p->Nk);
}

/* Does the case ask for what the place says? */
static bool place_is_set(int place, const struct battery_input *in)
{
    const struct problem *p = &in->problem;
    return place == 5   ? p->mask.causal
           : place == 6 ? p->mask.left >= 0 || p->mask.right >= 0
           : place == 7 ? p->softcap > 0
           : place == 9 ? in->buffer > p->Nk
                        : true;
}

static char *filled(const char *command, const struct battery_input *in, const char *folder)
{
    char *text = NULL;
    const char *inner;
    size_t length;
    text_append(&text, "%s", "");
    for (const char *at = command; *at != 0;) {
        int place = place_at(at, &inner, &length);
        if (place < 0) {
            text_append(&text, "%c", *at++);
            continue;
        }
        if (inner == NULL)
            append_place(&text, place, &in->problem, folder);
        else if (place_is_set(place, in)) /* its text up to the brace */
            text_append(&text, "%.*s", (int)(at + length - 1 - inner), inner);
        at += length;
    }
    return text;
}

static bool write_file(const char *folder, const char *name, const struct tensor *t,
                       struct message *why)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return tensor_write_npy(path, t, true, why);
}

/* The output as it is before the program runs: NaN everywhere. */
static bool write_poison(const char *folder, const char *name, enum format dtype, int rank,
                         const int64_t *shape, struct message *why)
{
    struct tensor t;
    if (!tensor_new(&t, dtype, rank, shape, why))
        return false;
    for (int64_t i = 0; i < tensor_elements(&t); i++)
        battery_poison(&t, i);
    bool ok = write_file(folder, name, &t, why);
    tensor_free(&t);
    return ok;
}

static bool write_files(const struct battery_input *in, const char *folder, struct message *why)
{
    const struct problem *p = &in->problem;
    int64_t shape[] = {p->B, p->Hq, p->Nq, p->D};
    return write_file(folder, "q", &in->q, why) && write_file(folder, "k", &in->k, why) &&
           write_file(folder, "v", &in->v, why) &&
           write_poison(folder, "o", in->q.dtype, 4, shape, why) &&
           write_poison(folder, "lse", FORMAT_FP32, 3, shape, why);
}

static bool write_gradients(const struct battery_input *in, const char *folder, struct message *why)
{
    const struct problem *p = &in->problem;
    int64_t queries[] = {p->B, p->Hq, p->Nq, p->D}, keys[] = {p->B, p->Hkv, p->Nk, p->D};
    return write_file(folder, "do", &in->dO, why) &&
           write_poison(folder, "dq", in->q.dtype, 4, queries, why) &&
           write_poison(folder, "dk", in->q.dtype, 4, keys, why) &&
           write_poison(folder, "dv", in->q.dtype, 4, keys, why);
}

/* Are the inputs as they were?  Says which one is not. */
static const char *changed_input(const struct battery_command *command,
                                 const struct battery_input *in, const char *folder)
{
    static const char *const names[] = {"q", "k", "v", "do"};
    const struct tensor *were[] = {&in->q, &in->k, &in->v, &in->dO};
    const char *changed = NULL;
    for (int i = 0; i < (command->has_do ? 4 : 3); i++) {
        char path[1024];
        struct tensor t;
        struct message took, why;
        snprintf(path, sizeof path, "%s/%s.npy", folder, names[i]);
        bool same = tensor_read_npy(path, in->q.dtype, &t, &took, &why);
        if (!same) {
            changed = names[i];
            continue;
        }
        same = t.rank == 4 && memcmp(t.shape, were[i]->shape, sizeof t.shape) == 0;
        size_t bytes =
            (size_t)tensor_elements(were[i]) * (size_t)format_info(were[i]->dtype)->bits / 8;
        if (!same || memcmp(t.data, were[i]->data, bytes) != 0)
            changed = names[i];
        tensor_free(&t);
    }
    return changed;
}

/* Reads what it wrote; its shape is to be the first `rank` sizes. */
static bool read_output(const char *folder, const char *name, enum format words, int rank,
                        const int64_t *shape, struct tensor *t, struct message *why)
{
    char path[1024];
    struct message took;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!tensor_read_npy(path, words, t, &took, why)) {
        size_t skip = strlen(folder) + 1; /* the name without our folder */
        if (strncmp(why->text, folder, skip - 1) == 0)
            memmove(why->text, why->text + skip, strlen(why->text + skip) + 1);
        return false;
    }
    if (t->rank == rank && memcmp(t->shape, shape, (size_t)rank * sizeof *shape) == 0)
        return true;
    refuse(why, "%s.npy has shape %s; %s is right", name, shape_text(t->rank, t->shape).text,
           shape_text(rank, shape).text);
    tensor_free(t);
    return false;
}

static bool judge_files(const struct battery_command *command, const struct battery_input *in,
                        const char *folder, struct battery_run *run, struct message *why)
{
    const struct problem *p = &in->problem;
    int64_t shape[] = {p->B, p->Hq, p->Nq, p->D};
    struct tensor O, lse = {0};
    run->verdict.passed = true;
    if (!command->has_o)
        return true;
    if (!read_output(folder, "o", in->q.dtype, 4, shape, &O, why))
        return false;
    bool ok = !command->has_lse || read_output(folder, "lse", in->q.dtype, 3, shape, &lse, why);
    if (ok)
        battery_judge(in, &O, command->has_lse ? &lse : NULL, &run->verdict);
    tensor_free(&O);
    if (ok && command->has_lse)
        tensor_free(&lse);
    return ok;
}

static bool judge_gradients(const struct battery_input *in, const char *folder,
                            struct battery_run *run, struct message *why)
{
    const struct problem *p = &in->problem;
    static const char *const names[] = {"dq", "dk", "dv"};
    struct tensor t[3];
    int have = 0;
    for (; have < 3; have++) {
        int64_t shape[] = {p->B, have == 0 ? p->Hq : p->Hkv, have == 0 ? p->Nq : p->Nk, p->D};
        if (!read_output(folder, names[have], in->q.dtype, 4, shape, &t[have], why))
            break;
    }
    if (have == 3)
        battery_judge_gradients(in, &t[0], &t[1], &t[2], &run->verdict);
    for (int i = 0; i < have; i++)
        tensor_free(&t[i]);
    return have == 3;
}

/* The last line it printed that is not empty, for a program that failed. */
static struct quoted last_words(struct process *p)
{
    size_t end = p->said_length;
    while (end > 0 && p->said[end - 1] == '\n')
        end--;
    size_t begin = end;
    while (begin > 0 && p->said[begin - 1] != '\n')
        begin--;
    return quoted(p->said + begin, end - begin);
}

bool battery_run(const struct battery_command *command, const struct battery_input *in,
                 const struct limits *limits, const char *folder, struct battery_run *run,
                 struct message *why)
{
    struct process process;
    struct message said;
    *run = (struct battery_run){0};
    bool backward = command->has_do && battery_has_gradients(in);
    if (!write_files(in, folder, why) || (command->has_do && !write_gradients(in, folder, why)))
        return false;
    char *line = filled(command->text, in, folder);
    char *argv[] = {"/bin/sh", "-c", line, NULL};
    double start = process_clock();
    bool started = process_start(&process, limits, argv, why);
    if (started)
        process_wait(&process);
    free(line);
    if (!started)
        return false;
    run->seconds = process_clock() - start;
    run->ran = true;
    run->missing = process.ending == ENDING_EXIT && (process.code == 126 || process.code == 127);
    const char *changed = changed_input(command, in, folder);
    if (process.ending != ENDING_EXIT || process.code != 0) {
        struct quoted words = last_words(&process);
        snprintf(run->sentence, sizeof run->sentence, "%s%s%s", process_ending(&process).text,
                 words.text[0] != 0 ? ": " : "", words.text);
    } else if (changed != NULL) {
        snprintf(run->sentence, sizeof run->sentence, "its input %s.npy was changed", changed);
    } else if (!judge_files(command, in, folder, run, &said) ||
               (backward && run->verdict.passed && !judge_gradients(in, folder, run, &said))) {
        snprintf(run->sentence, sizeof run->sentence, "%.200s", said.text);
    } else {
        run->passed = run->verdict.passed;
        snprintf(run->sentence, sizeof run->sentence, "%s", run->verdict.sentence);
    }
    return true;
}
