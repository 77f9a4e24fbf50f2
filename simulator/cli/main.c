/* main.c: the `flashulp` command: its front page, its help, and the way to each verb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/flashulp.h"
#include "simulator/inputs.h"
#include "simulator/scenario_parts.h"

static int (*const verbs[COMMAND_COUNT])(int argc, char **argv) = {
    [COMMAND_WALK] = cli_walk,     [COMMAND_BITS] = cli_bits,       [COMMAND_EXACT] = cli_exact,
    [COMMAND_RUN] = cli_run,       [COMMAND_TRACE] = cli_trace,     [COMMAND_LIST] = cli_list,
    [COMMAND_CLAIMS] = cli_claims, [COMMAND_COMPARE] = cli_compare, [COMMAND_DOCTOR] = cli_doctor,
    [COMMAND_SPLITS] = cli_splits, [COMMAND_AUDIT] = cli_audit,   [COMMAND_PLAN] = cli_plan,
    [COMMAND_LESSON] = cli_lesson, [COMMAND_RECIPE] = cli_recipe, [COMMAND_BATTERY] = cli_battery,
    [COMMAND_GPU] = cli_gpu,       [COMMAND_VIEW] = cli_view,     [COMMAND_LAB] = cli_lab,
    [COMMAND_WORKSHEET] = cli_worksheet};

int cli_refused(const char *verb, const struct message *why)
{
    fprintf(stderr, "flashulp %s: %s\n", verb, why->text);
    return 2;
}

const char cli_problem_text[] =
    "PROBLEM   NAME | FILE.safetensors | FILE.npz | --q F --k F --v F\n"
    "          FOLDER of a call that FlashInfer dumped (flashulp recipe flashinfer)\n"
    "          --scores \"1 2 | 3 0\" --values \"10 20 | 30 0\"      ( | ends a tile )\n"
    "          --generate FAMILY --seed S --shape B,Hq,Hkv,Nq,Nk,D\n";

static void front_page(void)
{
    const char *section = "";
    printf("flashulp - what exactly does this attention kernel compute, and which rounding\n"
           "           made the answer differ?\n\n"
           "usage: flashulp VERB [PROBLEM] [options]          flashulp VERB --help\n\n"
           "Try first\n"
           "  flashulp walk fa2-4        four scores, one operation at a time, by hand\n"
           "  flashulp run fa2-4 --policy gpu-bf16 --check       bf16, and how far it is off\n"
           "  flashulp exact fa2-4 --digits 50                   the true result\n\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const struct command_info *info = command_info((enum command)c);
        bool same = strcmp(info->section, section) == 0;
        section = info->section;
        printf("%-9s %-9s %s\n", same ? "" : section, info->name, info->meaning);
    }
    printf("\n%s\n"
           "Every verb that reports takes  --json  and  -o FILE  (the ending decides:\n"
           ".json .md .csv; of audit, claims, compare, plan, splits .html too).\n"
           "Exit: 0 yes or done, 1 no, 2 bad input.\n",
           cli_problem_text);
}

static void print_option(const struct option_info *o)
{
    enum { INDENT = 28 };
    char head[64], meaning[320];
    char *text = NULL;
    int width = snprintf(head, sizeof head, "  %s%s%s", o->name, o->argument[0] != 0 ? " " : "",
                         o->argument);
    snprintf(meaning, sizeof meaning, "%s%s", o->meaning, o->repeatable ? " (repeatable)" : "");
    if (width < INDENT)
        text_append(&text, "%-*s", INDENT, head);
    else
        text_append(&text, "%s\n%*s", head, INDENT, "");
    text_wrapped(&text, INDENT, INDENT, meaning);
    fputs(text, stdout);
    free(text);
}

static const struct cli_group groups[] = {
    {GROUP_PROBLEM, "Problem"}, {GROUP_SELECT, "Selection"}, {GROUP_RUN, "Run"},
    {GROUP_WALK, "Walk"},       {GROUP_EXACT, "Digits"},     {GROUP_TRACE, "Trace"},
    {GROUP_OUTPUT, "Output"},   {GROUP_BITS, "Bits"},        {GROUP_CLAIMS, "Claims"},
    {GROUP_AUDIT, "Audit"},     {GROUP_COMPARE, "Compare"},  {GROUP_SPLITS, "Launch"},
    {GROUP_PLAN, "Launch"},     {GROUP_BATTERY, "Battery"},  {GROUP_VIEW, "View"},
    {GROUP_LAB, "Lab"},         {GROUP_WORKSHEET, "Worksheet"},
         {GROUP_REPORT, "Report"}};
enum { GROUPS = sizeof groups / sizeof groups[0] };

const struct cli_group *cli_group(int n)
{
    return n < GROUPS ? &groups[n] : NULL;
}

int cli_help(enum command command)
{
    const struct command_info *info = command_info(command);
    printf("flashulp %s - %s\n\nusage: flashulp %s%s%s [options]\n", info->name, info->meaning,
           info->name, info->arguments[0] != 0 ? " " : "", info->arguments);
    if (info->groups & GROUP_PROBLEM)
        printf("\n%s", cli_problem_text);
    for (int g = 0; g < GROUPS; g++) {
        if ((info->groups & groups[g].group) == 0)
            continue;
        printf("\n%s\n", groups[g].title);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (option_info((enum option)o)->groups & groups[g].group)
                print_option(option_info((enum option)o));
    }
    return 0;
}

bool cli_scenario(struct scenario *s, enum command command, int argc, char **argv, int *status)
{
    const struct command_info *info = command_info(command);
    struct message why;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            break;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *status = cli_help(command);
            return false;
        }
    }
    if (scenario_parse(s, info->name, info->groups, argc, argv, &why))
        return true;
    *status = cli_refused(info->name, &why);
    return false;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_expect(const char *verb, double seconds)
{
    if (seconds > 60)
        fprintf(stderr, "flashulp %s: about %.0f minutes of work\n", verb, seconds / 60);
    else if (seconds > 1 && isatty(STDERR_FILENO))
        fprintf(stderr, "flashulp %s: about %.0f seconds of work\n", verb, seconds);
}

void cli_progress(const char *verb, int64_t done, int64_t total)
{
    static double start, last;
    double now = seconds_now();
    if (!isatty(STDERR_FILENO))
        return;
    if (done == 0)
        start = last = now;
    if (done == total && last > start)
        fprintf(stderr, "\r%40s\r", "");
    if (done == total || now - start < 1 || now - last < 0.1)
        return;
    last = now;
    fprintf(stderr, "\rflashulp %s: %3.0f %%", verb, 100.0 * (double)done / (double)total);
}

static int unknown_verb(const char *word)
{
    const char *names[COMMAND_COUNT];
    for (int c = 0; c < COMMAND_COUNT; c++)
        names[c] = command_info((enum command)c)->name;
    const char *near = nearest_name(word, names, COMMAND_COUNT);
    if (near != NULL)
        fprintf(stderr, "flashulp %.60s: no such verb; did you mean %s?\n", word, near);
    else
        fprintf(stderr, "flashulp %.60s: no such verb; flashulp --help lists them\n", word);
    return 2;
}

/* What was printed past the reports, such as help, may meet a full disk too. */
static int flushed(const char *verb, int status)
{
    struct message why;
    errno = 0;
    if (status == 2 || (fflush(stdout) == 0 && !ferror(stdout)))
        return status;
    refuse(&why, "the output cannot be written: %s", strerror(errno != 0 ? errno : EIO));
    return cli_refused(verb, &why);
}

static void on_ending(int number)
{
    files_unlink_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

/* No signal that can be caught leaves half a file; the limit on a file's size is a failed write. */
static void catch_endings(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (signal(ending[i], on_ending) == SIG_IGN)
            signal(ending[i], SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    catch_endings();
    inputs_register();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        front_page();
        return flushed(word, 0);
    }
    if (strcmp(word, "--version") == 0) {
        bool known = cli_revision()[0] != 0;
        printf("flashulp %s%s%s%s\n", flashulp_version(), known ? " (" : "", cli_revision(),
               known ? ")" : "");
        return flushed(word, 0);
    }
    if (strcmp(word, "--man") == 0)
        return flushed(word, cli_man(argc > 2 ? argv[2] : NULL));
    if (strcmp(word, "--completion") == 0)
        return flushed(word, cli_completion(argc > 2 ? argv[2] : ""));
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (strcmp(command_info((enum command)c)->name, word) == 0)
            return flushed(word, verbs[c](argc - 2, argv + 2));
    return unknown_verb(word);
}
