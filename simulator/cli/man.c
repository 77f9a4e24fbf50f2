/* man.c: `flashulp --man [VERB]`: the manual pages in man(7), from commands.def, options.def and
   man_examples.def. */
#include <stdio.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/flashulp.h"

/* Text as it stands: minus signs stay ASCII, a dot or quote at the start is no request. */
static void roff(const char *text)
{
    bool start = true;
    for (; *text != 0; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
        start = *text == '\n';
    }
}

/* One line of several, with its end. */
static void roff_line(const char *lines)
{
    char line[160];
    snprintf(line, sizeof line, "%.*s\n", (int)strcspn(lines, "\n"), lines);
    roff(line);
}

static void title(const char *name, const char *meaning)
{
    printf(".\\\" Made by flashulp --man from its tables of verbs and options.\n.TH ");
    for (const char *c = name; *c != 0; c++)
        putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    printf(" 1 \"\" \"flashulp %s\" \"FlashULP\"\n.SH NAME\n", flashulp_version());
    roff(name);
    printf(" \\- ");
    roff(meaning);
    printf("\n.SH SYNOPSIS\n");
}

static void problem_section(void)
{
    printf(".SH PROBLEM\n.nf\n");
    roff(cli_problem_text);
    printf(".fi\nNames are those of\n.BR \"flashulp list examples\" .\n");
}

static void option(const struct option_info *o)
{
    printf(".TP\n.B ");
    roff(o->name);
    if (o->argument[0] != 0) {
        printf(" \\fI");
        roff(o->argument);
        printf("\\fR");
    }
    putchar('\n');
    roff(o->meaning);
    printf("%s\n", o->repeatable ? " (repeatable)" : "");
}

static void option_sections(unsigned groups)
{
    printf(".SH OPTIONS\n%s", groups == 0 ? "\\fB\\-\\-help\\fR lists verbs and options.\n" : "");
    for (int g = 0; cli_group(g) != NULL; g++) {
        if ((groups & cli_group(g)->group) == 0)
            continue;
        printf(".SS %s\n", cli_group(g)->title);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (option_info((enum option)o)->groups & cli_group(g)->group)
                option(option_info((enum option)o));
    }
}

static const struct {
    enum command command;
    const char *meaning, *transcript;
} examples[] = {
#define MAN_EXAMPLE(command, meaning, transcript) {COMMAND_##command, meaning, transcript},
#include "simulator/cli/man_examples.def"
#undef MAN_EXAMPLE
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

/* A new paragraph, but for the first of its section. */
static void example_begin(int n, bool *first)
{
    printf("%s", *first ? "" : ".PP\n");
    roff(examples[n].meaning);
    printf("\n.PP\n.nf\n");
    *first = false;
}

static void verb_examples(enum command command)
{
    bool first = true;
    printf(".SH EXAMPLES\n");
    for (int n = 0; n < EXAMPLES; n++) {
        if (examples[n].command != command)
            continue;
        example_begin(n, &first);
        roff(examples[n].transcript);
        printf(".fi\n");
    }
}

/* The commands of every verb's first example, without what they print. */
static void front_examples(void)
{
    bool first = true;
    printf(".SH EXAMPLES\n");
    for (int n = 0; n < EXAMPLES; n++) {
        if (n > 0 && examples[n - 1].command == examples[n].command)
            continue;
        example_begin(n, &first);
        for (const char *at = examples[n].transcript; *at != 0; at += strcspn(at, "\n") + 1)
            if (at[0] == '$')
                roff_line(at);
        printf(".fi\n");
    }
}

static void ending(void)
{
    printf(".SH EXIT STATUS\n0: yes, equal or done; 1: no; 2: bad usage or input, after one "
           "sentence on the\nerror output. Files are written whole or not at all.\n"
           ".SH ENVIRONMENT\n"
           ".TP\n.B FLASHULP_DATA\nthe folder where the captures are looked for\n"
           ".TP\n.B FLASHULP_LESSONS\nthe folder where the lessons are looked for\n"
           ".TP\n.B FLASHULP_CPU\nbase, v3 or v4: which instructions are used; never changes "
           "a bit\n"
           ".TP\n.B NO_COLOR\nno colour on terminals either\n");
}

static void verb_page(enum command command)
{
    const struct command_info *info = command_info(command);
    char name[64];
    snprintf(name, sizeof name, "flashulp-%s", info->name);
    title(name, info->meaning);
    printf(".B flashulp %s\n", info->name);
    roff(info->arguments);
    printf("\n.RI [ options ]\n");
    if (info->groups & GROUP_PROBLEM)
        problem_section();
    option_sections(info->groups);
    verb_examples(command);
    ending();
    printf(".SH SEE ALSO\n.BR flashulp (1)\n");
}

static void front_page(void)
{
    title("flashulp", "what exactly an attention kernel computes, and which rounding made the "
                      "answer differ");
    printf(".B flashulp\n.I VERB\n.RI [ PROBLEM ]\n.RI [ options ]\n.br\n.B flashulp\n.I VERB\n"
           ".B \\-\\-help\n.SH VERBS\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        printf(".TP\n.BR flashulp\\-%s (1)\n", command_info((enum command)c)->name);
        roff(command_info((enum command)c)->meaning);
        putchar('\n');
    }
    problem_section();
    printf(".SH OPTIONS\n.TP\n.B \\-\\-version\nrelease and revision\n"
           ".TP\n.BI \\-\\-man \" \" \\fR[\\fPVERB\\fR]\nthis page, or the verb's\n"
           ".TP\n.BI \\-\\-completion \" SHELL\"\ncompletion for bash, zsh or fish\n");
    front_examples();
    ending();
}

int cli_man(const char *verb)
{
    struct message why;
    if (verb == NULL) {
        front_page();
        return 0;
    }
    for (int c = 0; c < COMMAND_COUNT; c++) {
        if (strcmp(command_info((enum command)c)->name, verb) == 0) {
            verb_page((enum command)c);
            return 0;
        }
    }
    refuse(&why, "%.60s: no such verb; flashulp --help lists them", verb);
    return cli_refused("--man", &why);
}
