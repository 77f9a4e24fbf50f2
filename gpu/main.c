/* main.c: the `flashulp-gpu` command: our CUDA kernels, on a GPU or on the emulator. */
#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"
#include "simulator/inputs.h"

static const struct {
    const char *name;
    int (*verb)(int argc, char **argv);
    const char *meaning;
} verbs[] = {
    {"check", verb_check, "every kernel against its pair, bit for bit, and the certified result"},
    {"run", verb_run, "one kernel on a problem; output, digest of the bits"},
    {"list", verb_list, "the kernels, and what each is the equal of"},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

int gpu_refused(const char *verb, const struct message *why)
{
    fprintf(stderr, "flashulp-gpu %s: %s\n", verb, why->text);
    return 2;
}

static void front_page(void)
{
    printf("flashulp-gpu - FlashAttention in CUDA, checked against the simulator to the bit\n\n"
           "usage: flashulp-gpu VERB [PROBLEM] [options]        runs on %s\n\n", target_name());
    for (int i = 0; i < VERBS; i++)
        printf("  %-7s %s\n", verbs[i].name, verbs[i].meaning);
    printf("\n"
           "  --kernel NAME          which kernel (fa2); flashulp-gpu list\n"
           "  --accumulate UNIT      emulator: fp32 chains (default), or a tensor core's sums:\n"
           "                         A100, H100, sm80, sm90, ... (flashulp list units)\n"
           "  --schedule HOW         emulator: plain, late, random or detector\n"
           "  --schedule-seed N      of random (1)\n"
           "  --quick                check: fewer problems, under 20 s\n"
           "  --pair                 run: the pair in the simulator, too, and whether they agree\n"
           "  --json                 one JSON object on the output\n\n"
           "PROBLEM is written as for flashulp run; decode kernels take --splits N and --grouping,\n"
           "backward ones --do.  Exit: 0 yes or done, 1 no, 2 bad input.\n");
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    const char *names[VERBS];
    struct message why;
    inputs_register();
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            word = "--help";
    if (strcmp(word, "--help") == 0) {
        front_page();
        return 0;
    }
    for (int i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) == 0)
            return verbs[i].verb(argc - 2, argv + 2);
    }
    const char *near = nearest_name(word, names, VERBS);
    if (near != NULL)
        refuse(&why, "no such verb; did you mean %s?", near);
    else
        refuse(&why, "no such verb; flashulp-gpu --help lists them");
    return gpu_refused(word, &why);
}
