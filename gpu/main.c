/* main.c: the `flashulp-gpu` command: our CUDA kernels, on a GPU or on the emulator. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "simulator/data.h"
#include "simulator/inputs.h"

static const struct {
    const char *name;
    int (*verb)(int argc, char **argv);
    const char *meaning;
} verbs[] = {
    {"check", verb_check, "every kernel against its pair, bit for bit, and the certified result"},
    {"run", verb_run, "one kernel on a problem; output, digest of the bits"},
    {"bench", verb_bench, "forward kernels' speed, and the share of what mma.sync can do"},
    {"probe", verb_probe, "mma, ex2, lg2, rcp: what the hardware computes, as a table"},
    {"trace", verb_trace, "emulator: what one launch did: barriers, banks, sectors, switches"},
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
           "usage: flashulp-gpu VERB [PROBLEM] [options]\nruns on %s\n\n",
           target_name());
    for (int i = 0; i < VERBS; i++)
        printf("  %-7s %s\n", verbs[i].name, verbs[i].meaning);
    printf("\n"
           "  --kernel NAME          which kernel (fa2); flashulp-gpu list\n"
           "  --emulate              the emulator, even where there is a GPU\n"
           "  --accumulate UNIT      emulator: fp32 chains (default), or tensor cores:\n"
           "                         A100, H100, sm80, sm90, ... (flashulp list units)\n"
           "  --schedule HOW         emulator: plain, late, random or detector\n"
           "  --schedule-seed N      of random (1)\n"
           "  --exp hw               weights by the hardware's 2^x (poly: fmaf alone)\n"
           "  --plant keys|queries   NaN and infinities in the last keys, the first queries\n"
           "  --quick                check: fewer problems, under 20 s\n"
           "  -o FILE.trace          trace: what every lane did, for flashulp view\n"
           "  --pair                 run: its pair in the simulator, too: do they agree?\n"
           "  --json                 one JSON object on the output\n\n"
           "PROBLEM is written as for flashulp run; decode kernels take --splits N and\n"
           "--grouping, backward ones --do.  Exit: 0 yes or done, 1 no, 2 bad input.\n");
}

/* The emulator's program gives way to the GPU's, which lies beside it, where there is a GPU; never
   with --emulate. */
static void give_way(char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], command[PATH_MAX + 64];
    program_folder(folder);
    snprintf(path, sizeof path, "%s/flashulp-gpu-device", folder);
    if (!target_is_emulator() || access(path, X_OK) != 0 || strchr(path, '\'') != NULL)
        return;
    snprintf(command, sizeof command, "'%s' here >/dev/null 2>&1", path);
    if (system(command) == 0)
        execv(path, argv);
}

/* --emulate is taken out of the words. */
static bool take_emulate(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--emulate") != 0)
            argv[kept++] = argv[i];
    bool taken = kept < *argc;
    *argc = kept;
    argv[kept] = NULL;
    return taken;
}

int main(int argc, char **argv)
{
    const char *names[VERBS];
    struct message why;
    if (!take_emulate(&argc, argv))
        give_way(argv);
    const char *word = argc > 1 ? argv[1] : "--help";
    inputs_register();
    if (strcmp(word, "here") == 0) /* asked by give_way */
        return !target_here(&why);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            word = "--help";
    if (strcmp(word, "--help") == 0) {
        front_page();
        return 0;
    }
    for (int i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) != 0)
            continue;
        if (verbs[i].verb != verb_list && !target_here(&why))
            return gpu_refused(word, &why);
        return verbs[i].verb(argc - 2, argv + 2);
    }
    const char *near = nearest_name(word, names, VERBS);
    if (near != NULL)
        refuse(&why, "no such verb; did you mean %s?", near);
    else
        refuse(&why, "no such verb; flashulp-gpu --help lists them");
    return gpu_refused(word, &why);
}
