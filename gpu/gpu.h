/* gpu.h: the verbs of flashulp-gpu, one file each.

   A verb gets the words after its name; it returns the exit status: 0 yes or done, 1 no, 2 bad
   usage or input, after one sentence on the error output. */
#ifndef FLASHULP_GPU_H
#define FLASHULP_GPU_H

#include "gpu/launch.h"

int verb_check(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_probe(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_list(int argc, char **argv);

/* Prints "flashulp-gpu VERB: sentence"; returns 2. */
int gpu_refused(const char *verb, const struct message *why);

/* The words every verb takes, taken out of argv: what runs, and how. */
struct gpu_words {
    enum gpu_kernel kernel;                          /* --kernel, or fa2 */
    bool kernel_given, how_given, quick, json, pair; /* how: accumulation, schedule, exp */
    const char *unit;                                /* --accumulate: "sm90"; NULL: fp32 chains */
    struct target_settings target;
    const char *rest[64]; /* the words that are left: a problem */
    int count;
};
bool gpu_words_read(struct gpu_words *w, int argc, char **argv, struct message *why);
/* By what weights are made, in a word ("poly", "hw", "stand-in") and in a sentence. */
const char *gpu_exp_word(bool hw);
const char *gpu_exp_meaning(bool hw);

struct json;
struct report;
/* "target" and "emulator": where the verb ran. */
void gpu_add_target(struct json *j);
/* The report's JSON, a line behind it, on the output. */
void gpu_print_json(const struct report *r);

#endif
