/* scene_parts.c: see scene_parts.h. */
#include "visualize/scene_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"

void *story_begin(struct scene *scene, size_t size, struct trace *t, const char *instead,
                  struct message *why)
{
    scene->story = NULL;
    bool refused = t != NULL && instead != NULL;
    void *story = refused ? NULL : calloc(1, size);
    if (refused)
        refuse(why, "%s", instead);
    else if (story == NULL)
        refuse(why, "no memory");
    if (story == NULL)
        trace_free(t);
    return scene->story = story;
}

static bool same_name(const char *panel, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((panel[i] == ' ' ? '-' : panel[i]) != name[i])
            return false;
    return panel[length] == 0;
}

bool live_value(const struct scenario *s, const char *name, char *value, size_t room)
{
    bool found = false;
    for (const char *line = s->value[OPTION_LIVE]; line != NULL && *line != 0;) {
        size_t length = strcspn(line, "\n"), named = strcspn(line, "=\n");
        if (line[named] == '=' && same_name(name, line, named)) {
            snprintf(value, room, "%.*s", (int)(length - named - 1), line + named + 1);
            found = true; /* the last one wins */
        }
        line += length + (line[length] != 0);
    }
    return found;
}

void live_append(char **lines, const char *name, const char *value)
{
    char word[40];
    snprintf(word, sizeof word, "%s", name);
    for (char *at = word; *at != 0; at++)
        *at = *at == ' ' ? '-' : *at;
    text_append(lines, "%s%s=%s", *lines != NULL ? "\n" : "", word, value);
}

struct shown {
    int count;
    struct parameter parameter[PARAMETER_MOST];
};

static bool line_shown(void *with, const char *line, struct message *why)
{
    const struct shown *s = with;
    size_t named = strcspn(line, "=");
    char names[160] = "";
    for (int n = 0; n < s->count; n++) {
        const struct parameter *p = &s->parameter[n];
        if (same_name(p->name, line, named) && line[named] == '=') {
            if (strcmp(p->value, line + named + 1) == 0)
                return true;
            return refuse(why,
                          "--live %.60s: %s is what the scene shows; another value, or the option "
                          "of that name, is right",
                          line, p->value);
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", n > 0 ? ", " : "",
                 p->name);
    }
    for (char *at = names; *at != 0; at++)
        if (*at == ' ' && at > names && at[-1] != ',')
            *at = '-';
    if (s->count == 0)
        return refuse(why, "--live %.60s: this scene has no parameters", line);
    return refuse(why, "--live %.60s: NAME=VALUE is right; the scene's names are %s", line, names);
}

bool live_shown(const struct scene *scene, const struct scenario *s, struct message *why)
{
    struct shown shown;
    shown.count = scene->kind->parameters(scene, shown.parameter);
    return each_line(s->value[OPTION_LIVE], line_shown, &shown, why);
}

void command_append(const struct scenario *s, char *live, char **text)
{
    struct scenario said = *s;
    said.value[OPTION_LIVE] = live;
    said.given[OPTION_LIVE] = live != NULL;
    char *command = scenario_command(&said);
    text_append(text, "%s", command);
    free(command);
}

struct scenario scenario_with(const struct scenario *s, enum option o, const char *value)
{
    struct scenario other = *s;
    other.value[o] = (char *)(uintptr_t)value;
    other.given[o] = value != NULL;
    return other;
}

const char *choice_stepped(const char *const *choice, int count, const char *value, int direction)
{
    for (int n = 0; n < count; n++)
        if (strcmp(choice[n], value) == 0)
            return choice[(n + direction + count) % count];
    return choice[0];
}

int64_t number_stepped(const int *choice, int count, int64_t value, int direction)
{
    int at = 0;
    for (int n = 0; n < count; n++)
        if (choice[n] <= value)
            at = n;
    return choice[(at + direction + count) % count];
}

const char *const live_policies[LIVE_POLICIES] = {"fp32", "gpu-bf16", "gpu-fp16", "all-bf16"};
