/* scenario.c: words into a scenario, and a scenario back into words.

   Only the shape of the command line is checked here: which options there are, which the verb
   takes, which need a word behind them.  What the words mean is checked where they are used. */
#include "simulator/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"

static const struct option_info options[OPTION_COUNT] = {
#define OPTION(id, name, argument, repeatable, groups, meaning)                                    \
    {name, argument, repeatable, groups, meaning},
#include "simulator/options.def"
#undef OPTION
};

static const struct command_info commands[COMMAND_COUNT] = {
#define COMMAND(id, name, section, groups, arguments, meaning)                                     \
    {name, section, groups, arguments, meaning},
#include "simulator/commands.def"
#undef COMMAND
};

const struct option_info *option_info(enum option o)
{
    return &options[o];
}

const struct command_info *command_info(enum command c)
{
    return &commands[c];
}

/* "run and trace": the verbs that take an option. */
static void name_verbs(unsigned groups, char *text, size_t room)
{
    int count = 0, total = 0;
    for (int c = 0; c < COMMAND_COUNT; c++)
        total += (commands[c].groups & groups) != 0;
    text[0] = 0;
    for (int c = 0; c < COMMAND_COUNT; c++) {
        if ((commands[c].groups & groups) == 0)
            continue;
        const char *between = count == 0 ? "" : count == total - 1 ? " and " : ", ";
        strncat(text, between, room - strlen(text) - 1);
        strncat(text, commands[c].name, room - strlen(text) - 1);
        count++;
    }
}

static bool refuse_option(const struct scenario *s, const char *name, struct message *why)
{
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    const char *near = nearest_name(name, names, OPTION_COUNT);
    if (near != NULL)
        return refuse(why, "unknown option %.60s; did you mean %s?", name, near);
    return refuse(why, "unknown option %.60s; flashulp %s --help lists the options", name, s->verb);
}

/* Is the word an option?  "-1", "-.5" and "-inf" are numbers, "-" alone is a word. */
static bool is_option(const char *word)
{
    if (word[0] != '-' || word[1] == 0 || strchr("0123456789.", word[1]) != NULL)
        return false;
    return strcmp(word, "-inf") != 0 && strcmp(word, "-nan") != 0;
}

static bool set_value(struct scenario *s, enum option o, const char *text, struct message *why)
{
    const struct option_info *info = &options[o];
    if (s->given[o] && !info->repeatable)
        return refuse(why, "%s is given twice", info->name);
    if (info->repeatable && strchr(text, '\n') != NULL)
        return refuse(why, "%s: a value of one line is right", info->name);
    s->given[o] = true;
    text_append(&s->value[o], "%s%s", s->value[o] != NULL ? "\n" : "", text);
    return true;
}

/* Two verbs may give one name two meanings, each with a row: the row these groups take, else the
   first. */
static int find_option(const char *name, unsigned groups)
{
    int first = OPTION_COUNT;
    for (int o = OPTION_COUNT - 1; o >= 0; o--) {
        if (strcmp(options[o].name, name) != 0)
            continue;
        if ((options[o].groups & groups) != 0)
            return o;
        first = o;
    }
    return first;
}

/* Takes the option argv[*i] and the word it needs. */
static bool take_option(struct scenario *s, unsigned groups, int argc, char **argv, int *i,
                        struct message *why)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    char name[64] = "";
    memcpy(name, word, length < sizeof name ? length : sizeof name - 1);
    int o = find_option(name, groups);
    if (o == OPTION_COUNT)
        return refuse_option(s, name, why);
    if ((options[o].groups & groups) == 0) {
        char verbs[64];
        name_verbs(options[o].groups, verbs, sizeof verbs);
        return refuse(why, "%s is an option of %s, not of %s", name, verbs, s->verb);
    }
    if (options[o].argument[0] == 0) {
        if (equals != NULL)
            return refuse(why, "%s is a switch and takes no value", name);
        if (s->given[o])
            return refuse(why, "%s is given twice", name);
        s->given[o] = true;
        return true;
    }
    if (equals != NULL)
        return set_value(s, (enum option)o, equals + 1, why);
    if (*i + 1 == argc)
        return refuse(why, "%s needs a word after it: %s", name, options[o].argument);
    return set_value(s, (enum option)o, argv[++*i], why);
}

bool scenario_parse(struct scenario *s, const char *verb, unsigned groups, int argc, char **argv,
                    struct message *why)
{
    *s = (struct scenario){.verb = verb};
    bool words_only = false;
    for (int i = 0; i < argc; i++) {
        bool option = !words_only && is_option(argv[i]);
        if (option && strcmp(argv[i], "--") == 0) {
            words_only = true;
        } else if (option) {
            if (!take_option(s, groups, argc, argv, &i, why))
                goto refused;
        } else if (s->problem == NULL) {
            text_append(&s->problem, "%s", argv[i]);
        } else if ((groups & (GROUP_COMPARE | GROUP_LAB)) != 0 && s->other == NULL) {
            text_append(&s->other, "%s", argv[i]);
        } else {
            refuse(why,
                   s->other != NULL ? "%.60s, %.60s and %.60s: two are right"
                                    : "%.60s and %.60s: one is right",
                   s->problem, s->other != NULL ? s->other : argv[i], argv[i]);
            goto refused;
        }
    }
    return true;
refused:
    scenario_free(s);
    return false;
}

void scenario_free(struct scenario *s)
{
    free(s->problem);
    free(s->other);
    for (int i = 0; i < OPTION_COUNT; i++)
        free(s->value[i]);
    *s = (struct scenario){0};
}

/* Appends " word", quoted for a shell if it needs it. */
static void append_word(char **text, const char *word, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (length > 0 && strspn(word, plain) >= length) {
        text_append(text, " %.*s", (int)length, word);
        return;
    }
    text_append(text, " '");
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '\'')
            text_append(text, "'\\''");
        else
            text_append(text, "%c", word[i]);
    }
    text_append(text, "'");
}

/* Every value of an option: those of a repeatable one are joined by line breaks. */
static void append_option(char **text, enum option o, const char *value)
{
    if (options[o].argument[0] == 0) {
        text_append(text, " %s", options[o].name);
        return;
    }
    for (;;) {
        size_t length = options[o].repeatable ? strcspn(value, "\n") : strlen(value);
        text_append(text, " %s", options[o].name);
        append_word(text, value, length);
        if (value[length] == 0)
            return;
        value += length + 1;
    }
}

char *scenario_command(const struct scenario *s)
{
    char *text = NULL;
    text_append(&text, "flashulp %s", s->verb);
    const char *words[2] = {s->problem, s->other};
    bool last =
        (words[0] != NULL && is_option(words[0])) || (words[1] != NULL && is_option(words[1]));
    for (int i = 0; i < 2 && words[i] != NULL && !last; i++)
        append_word(&text, words[i], strlen(words[i]));
    for (int i = 0; i < OPTION_COUNT; i++)
        if (s->given[i])
            append_option(&text, (enum option)i, s->value[i]);
    if (last)
        text_append(&text, " --");
    for (int i = 0; i < 2 && words[i] != NULL && last; i++)
        append_word(&text, words[i], strlen(words[i]));
    return text;
}

void scenario_thread_done(void)
{
    arith_mpfr.thread_done();
}
