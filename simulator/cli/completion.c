/* completion.c: `flashulp --completion bash|zsh|fish`: completion from the tables of verbs, options
   and names.  An option's argument is one of known words, a file, or left to the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/alter.h"
#include "simulator/cli/cli.h"
#include "simulator/devices.h"
#include "simulator/examples.h"
#include "simulator/inputs.h"
#include "simulator/scenario_parts.h"
#include "simulator/splits.h"
#include "simulator/workloads.h"

/* Appends every name of a table: text_append(text, " NAME") for n = 0 .. count - 1. */
#define NAMES(count, name)                                                                         \
    for (int n = 0; n < (int)(count); n++)                                                         \
    text_append(text, " %s", name)

/* The tables whose names an option's argument may be. */
static void names_of_tables(char **text, enum option o)
{
    if (o == OPTION_ALGORITHM || o == OPTION_BESIDE)
        NAMES(ALGORITHM_COUNT, algorithm_info((enum algorithm)n)->name);
    if (o == OPTION_KERNEL)
        NAMES(KERNEL_COUNT, kernel_info((enum kernel)n)->name);
    if (o == OPTION_DEVICE || o == OPTION_DEVICES)
        NAMES(DEVICE_COUNT, device_info((enum device)n)->name);
    if (o == OPTION_POLICY)
        NAMES(POLICY_COUNT, policy_name((enum policy_id)n));
    if (o == OPTION_DTYPE || o == OPTION_FORMAT)
        NAMES(FORMAT_COUNT, format_info((enum format)n)->name);
    if (o == OPTION_SET || o == OPTION_ORDER)
        for (int n = 0; n < SITE_COUNT; n++)
            text_append(text, " %s=", site_name((enum site)n));
    if (o == OPTION_FAULT)
        NAMES(FAULT_COUNT, fault_name((enum fault)n));
    if (o == OPTION_ALTER)
        NAMES(ALTERATION_COUNT, alteration_name((enum alteration)n));
    if (o == OPTION_RULE)
        NAMES(SPLIT_RULE_COUNT, split_rule_info((enum split_rule)n)->name);
    if (o == OPTION_WORKLOAD)
        NAMES(WORKLOAD_COUNT, workload_name((enum workload)n));
    if (o == OPTION_GENERATE)
        for (int n = 0; input_family(n) != NULL; n++)
            text_append(text, " %s", input_family(n)->name);
}

/* The words an option's argument may be, each after a blank; nothing when that is open. */
static void argument_words(char **text, enum option o)
{
    static const struct {
        enum option option;
        const char *words;
    } fixed[] = {{OPTION_ALGORITHM, "all"},
                 {OPTION_FAULT, "none"},
#define SPECIAL(id, name, meaning) {OPTION_SPECIAL, name},
#include "simulator/special.def"
#undef SPECIAL
                 {OPTION_ARITH, "float double mpfr"},
                 {OPTION_KV, "ascending descending"},
                 {OPTION_CAUSAL_ALIGN, "bottom-right top-left"},
                 {OPTION_LAYOUT, "bhnd bnhd"},
                 {OPTION_SNAPSHOTS, "none stats all"}};
    names_of_tables(text, o);
    for (size_t n = 0; n < sizeof fixed / sizeof *fixed; n++)
        if (fixed[n].option == o)
            text_append(text, " %s", fixed[n].words);
}

/* The words a verb's argument may be; files go too, except for list and bits. */
static void verb_words(char **text, enum command c)
{
    if (command_info(c)->groups & GROUP_PROBLEM)
        NAMES(EXAMPLE_COUNT, example_info((enum example)n)->name);
    if (c == COMMAND_LIST)
        for (int n = 0; cli_list_table(n) != NULL; n++)
            text_append(text, " %s", cli_list_table(n));
}

static bool takes_files(enum command c)
{
    return c != COMMAND_LIST && c != COMMAND_BITS;
}

static bool takes(enum command c, enum option o)
{
    return (command_info(c)->groups & option_info(o)->groups) != 0;
}

static bool names_file(enum option o)
{
    return strncmp(option_info(o)->argument, "FILE", 4) == 0;
}

/* " words" as "words", to be freed. */
static char *words_of(void (*append)(char **, int), int n)
{
    char *text = NULL;
    append(&text, n);
    if (text == NULL)
        text_append(&text, "%s", "");
    else
        memmove(text, text + 1, strlen(text));
    return text;
}

static void fill_option(char **text, int o)
{
    argument_words(text, (enum option)o);
}

static void fill_verb(char **text, int c)
{
    verb_words(text, (enum command)c);
}

/* Prints text with a backslash before every character of `special`; ' becomes `quote`. */
static void escaped(const char *text, const char *special, const char *quote)
{
    for (; *text != 0; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf(strchr(special, *text) != NULL ? "\\%c" : "%c", *text);
    }
}

static void bash_argument(enum option o)
{
    char *words = words_of(fill_option, (int)o);
    bool open = strchr(words, '=') != NULL;
    if (option_info(o)->argument[0] == 0) {
        free(words);
        return;
    }
    printf("    %s)\n", option_info(o)->name);
    if (names_file(o))
        printf("        files=yes ;;\n");
    else if (open)
        printf("        compopt -o nospace 2>/dev/null\n        words='%s' ;;\n", words);
    else
        printf("        words='%s' ;;\n", words);
    free(words);
}

static void bash_verb(enum command c)
{
    char *words = words_of(fill_verb, (int)c);
    printf("        %s)\n            %swords='%s", command_info(c)->name,
           takes_files(c) ? "files=yes " : "", words);
    for (int o = 0; o < OPTION_COUNT; o++)
        if (takes(c, (enum option)o))
            printf(" %s", option_info((enum option)o)->name);
    printf(" --help' ;;\n");
    free(words);
}

static void bash(void)
{
    printf("# bash completion for flashulp; made by flashulp --completion bash.\n"
           "_flashulp() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words= files= IFS=$' \\t\\n'\n"
           "    COMPREPLY=()\n"
           "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (int o = 0; o < OPTION_COUNT; o++)
        bash_argument((enum option)o);
    printf("    *)\n        case ${COMP_WORDS[1]} in\n");
    for (int c = 0; c < COMMAND_COUNT; c++)
        bash_verb((enum command)c);
    printf("        esac ;;\n    esac\n    [ \"$COMP_CWORD\" -eq 1 ] && files= words='--help "
           "--version");
    for (int c = 0; c < COMMAND_COUNT; c++)
        printf(" %s", command_info((enum command)c)->name);
    printf("'\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [ -z \"$files\" ] && return\n"
           "    IFS=$'\\n'\n"
           "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _flashulp flashulp\n");
}

static void zsh_option(enum option o)
{
    const struct option_info *info = option_info(o);
    char *words = words_of(fill_option, (int)o);
    printf(" \\\n        '%s%s[", info->repeatable ? "*" : "", info->name);
    escaped(info->meaning, "[]:\\", "'\\''");
    printf("]");
    if (info->argument[0] != 0) {
        printf(":%s:", info->argument);
        if (names_file(o))
            printf("_files");
        else if (words[0] != 0)
            printf("(%s)", words);
    }
    printf("'");
    free(words);
}

static void zsh(void)
{
    printf("#compdef flashulp\n# Made by flashulp --completion zsh.\n"
           "local -a verbs\nverbs=(\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        printf("    '%s:", command_info((enum command)c)->name);
        escaped(command_info((enum command)c)->meaning, ":\\", "'\\''");
        printf("'\n");
    }
    printf(")\nif ((CURRENT == 2)); then\n    _describe -t verbs verb verbs\n    return\nfi\n"
           "local verb=$words[2]\nshift words\n((CURRENT--))\ncase $verb in\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        char *words = words_of(fill_verb, c);
        printf("(%s)\n    _arguments", command_info((enum command)c)->name);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (takes((enum command)c, (enum option)o))
                zsh_option((enum option)o);
        printf(" \\\n        '--help[usage and options]' \\\n        '*:argument:");
        printf(takes_files((enum command)c) ? "{compadd -- %s; _files}' ;;\n" : "(%s)' ;;\n",
               words);
        free(words);
    }
    printf("esac\n");
}

/* complete -c flashulp -n '__fish_seen_subcommand_from VERBS' of those that take the option. */
static void fish_option(enum option o)
{
    const struct option_info *info = option_info(o);
    char *words = words_of(fill_option, (int)o);
    printf("complete -c flashulp -n '__fish_seen_subcommand_from");
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (takes((enum command)c, o))
            printf(" %s", command_info((enum command)c)->name);
    printf("' %s %s -d '", info->name[1] == '-' ? "-l" : "-s",
           info->name + strspn(info->name, "-"));
    escaped(info->meaning, "\\", "\\'");
    printf("'");
    if (info->argument[0] != 0)
        printf(names_file(o) ? " -r -F" : " -x -a '%s'", words);
    printf("\n");
    free(words);
}

static void fish(void)
{
    printf("# fish completion for flashulp; made by flashulp --completion fish.\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *name = command_info((enum command)c)->name;
        char *words = words_of(fill_verb, c);
        printf("complete -c flashulp -f -n __fish_use_subcommand -a %s -d '", name);
        escaped(command_info((enum command)c)->meaning, "\\", "\\'");
        printf("'\ncomplete -c flashulp -n '__fish_seen_subcommand_from %s' %s -a '%s'\n", name,
               takes_files((enum command)c) ? "-F" : "-f", words);
        free(words);
    }
    for (int o = 0; o < OPTION_COUNT; o++)
        fish_option((enum option)o);
}

int cli_completion(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    struct message why;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return 0;
        }
    }
    refuse(&why, "%s%.40s%sbash, zsh or fish is right", shell[0] != 0 ? "'" : "", shell,
           shell[0] != 0 ? "': " : "");
    return cli_refused("--completion", &why);
}
