/* recipe.c: `flashulp recipe [ENGINE]`: scripts that capture Q, K, V, O from engines, and prove it.

   A script is its file of simulator/recipes behind the shared ones, under a heading made of
   recipes.def: how to run it, on a second GPU too, and what to beware of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/scenario_parts.h"

enum recipe {
#define RECIPE(id, ...) RECIPE_##id,
#include "simulator/cli/recipes.def"
#undef RECIPE
    RECIPE_COUNT,
    RECIPE_ANY
};

static const struct recipe_info {
    const char *name, *meaning, *arguments, *package, *ran;
} recipes[RECIPE_COUNT] = {
#define RECIPE(id, name, meaning, arguments, package, ran) {name, meaning, arguments, package, ran},
#include "simulator/cli/recipes.def"
#undef RECIPE
};

static const struct {
    enum recipe recipe;
    const char *words;
} traps[] = {
#define RECIPE_TRAP(recipe, words) {RECIPE_##recipe, words},
#include "simulator/cli/recipes.def"
#undef RECIPE_TRAP
};
enum { TRAPS = sizeof traps / sizeof traps[0] };

/* The files of simulator/recipes, line by line; recipes.inc is made of them. */
static const struct {
    const char *name;
    const char *const *lines; /* the last is NULL */
} files[] = {
#define RECIPE_FILE(name, ...) {name, (const char *const[]){__VA_ARGS__ NULL}},
#include "recipes.inc"
#undef RECIPE_FILE
};
enum { FILES = sizeof files / sizeof files[0] };

static const char never[] = "None of the scripts was ever run on a GPU.";

static bool is_trap_of(int trap, enum recipe r)
{
    return traps[trap].recipe == r || traps[trap].recipe == RECIPE_ANY;
}

static const char same[] = "the same, with  b200 --replay  in place of  h200";

static void command_line(char **text, enum recipe r, bool second)
{
    text_append(text, "python3 capture.py cap.safetensors %s %s", second ? "b200 --replay" : "h200",
                recipes[r].arguments);
}

/* A line of the heading, broken, behind '#'. */
static void comment(char **script, const char *first, const char *words)
{
    char *text = NULL, *next;
    int width = (int)strlen(first);
    text_append(&text, "# %s", first);
    text_wrapped(&text, width + 2, width + 2, words);
    for (char *at = text; at != NULL && *at != 0; at = next) {
        next = strchr(at, '\n');
        if (next != NULL)
            *next++ = 0;
        text_append(script, "%s%s\n", *at == '#' ? "" : "#", *at == '#' ? at : at + 1);
    }
    free(text);
}

static void add_heading(char **script, enum recipe r)
{
    char *first = NULL, *words = NULL;
    command_line(&first, r, false);
    text_append(&words, "Captures Q, K, V and O from %s.  Made by: flashulp recipe %s",
                recipes[r].meaning, recipes[r].name);
    comment(script, "", words);
    text_append(script, "#\n# first GPU   %s\n# second GPU  %s\n", first, same);
    text_append(script, "# then        flashulp audit cap.safetensors\n#\n");
    comment(
        script, "",
        "Nothing is saved unless attention in fp64 over the captured Q, K, V gives the captured "
        "O; on the second GPU it must have run on the first one's Q, K, V, bit for bit.");
    text_append(script, "#\n# Beware:\n");
    for (int t = 0; t < TRAPS; t++)
        if (is_trap_of(t, r))
            comment(script, "- ", traps[t].words);
    text_append(script, "#\n");
    free(words);
    words = NULL;
    text_append(&words, "Ran: %s.  %s", recipes[r].ran, never);
    comment(script, "", words);
    text_append(script, "\n");
    free(first);
    free(words);
}

/* "#include NAME.py" stands for that file. */
static void add_file(char **script, const char *name)
{
    static const char include[] = "#include ";
    for (int f = 0; f < FILES; f++) {
        if (strcmp(files[f].name, name) != 0)
            continue;
        for (const char *const *line = files[f].lines; *line != NULL; line++) {
            char other[32];
            bool nested = strncmp(*line, include, strlen(include)) == 0;
            if (!nested) {
                text_append(script, "%s", *line);
                continue;
            }
            snprintf(other, sizeof other, "%.*s", (int)strcspn(*line + strlen(include), "."),
                     *line + strlen(include));
            add_file(script, other);
            text_append(script, "\n");
        }
    }
}

static char *make_script(enum recipe r)
{
    char *script = NULL;
    add_heading(&script, r);
    add_file(&script, "proof");
    text_append(&script, "\n\n");
    add_file(&script, "capture");
    text_append(&script, "\n\n");
    add_file(&script, recipes[r].name);
    return script;
}

static void list_recipes(struct report *r)
{
    enum { NAME = 15 };
    struct json *list = json_list(r->json, "recipes");
    report_row(r, "name\tmeaning\tran");
    for (int i = 0; i < RECIPE_COUNT; i++) {
        struct json *j = json_object(list, NULL);
        char *ran = NULL;
        text_append(&ran, "ran: %s", recipes[i].ran);
        report_text(r, " %-*s", NAME - 1, recipes[i].name);
        text_wrapped(&r->text, NAME, NAME, recipes[i].meaning);
        report_text(r, "%*s", NAME, "");
        text_wrapped(&r->text, NAME, NAME + 5, ran);
        report_row(r, "%s\t%s\t%s", recipes[i].name, recipes[i].meaning, recipes[i].ran);
        json_string(j, "name", recipes[i].name);
        json_string(j, "meaning", recipes[i].meaning);
        json_string(j, "ran", recipes[i].ran);
        free(ran);
    }
    report_text(r, " %s\n", never);
    report_text(r, " flashulp recipe vllm -o capture.py    writes one and says how to run it\n");
    json_truth(r->json, "ran_on_a_gpu", false);
}

/* What stands beside a script that went to a file. */
static void explain(struct report *r, enum recipe recipe)
{
    char *first = NULL, *second = NULL, *words = NULL;
    struct json *list;
    command_line(&first, recipe, false);
    command_line(&second, recipe, true);
    report_text(r, " needs   python3, torch, safetensors, numpy, %s\n", recipes[recipe].package);
    report_text(r, " first   %s\n second  %s\n", first, same);
    report_text(r, " then    flashulp audit cap.safetensors\n beware\n");
    list = json_list(r->json, "beware");
    for (int t = 0; t < TRAPS; t++)
        if (is_trap_of(t, recipe)) {
            report_text(r, "   - ");
            text_wrapped(&r->text, 5, 5, traps[t].words);
            json_string(list, NULL, traps[t].words);
        }
    text_append(&words, "%s. %s", recipes[recipe].ran, never);
    report_text(r, " ran     ");
    text_wrapped(&r->text, 9, 9, words);
    json_string(r->json, "name", recipes[recipe].name);
    json_string(r->json, "first_gpu", first);
    json_string(r->json, "second_gpu", second);
    json_string(r->json, "package", recipes[recipe].package);
    json_string(r->json, "ran", recipes[recipe].ran);
    json_truth(r->json, "ran_on_a_gpu", false);
    free(first);
    free(second);
    free(words);
}

static bool find_recipe(const char *word, enum recipe *r, struct message *why)
{
    const char *names[RECIPE_COUNT];
    for (int i = 0; i < RECIPE_COUNT; i++) {
        names[i] = recipes[i].name;
        if (strcmp(word, names[i]) == 0) {
            *r = (enum recipe)i;
            return true;
        }
    }
    const char *near = nearest_name(word, names, RECIPE_COUNT);
    return refuse(why, "no recipe is named %.40s; %s%s%s", word,
                  near != NULL ? "did you mean " : "flashulp recipe names them",
                  near != NULL ? near : "", near != NULL ? "?" : "");
}

/* A script beside which Python looks first for the package it needs must not have its name. */
static bool hides_package(const char *path, enum recipe recipe)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    size_t length = strlen(recipes[recipe].package);
    return strncmp(file, recipes[recipe].package, length) == 0 && strcmp(file + length, ".py") == 0;
}

static bool write_script(struct report *r, const char *path, enum recipe recipe, const char *script,
                         struct message *why)
{
    struct output_file f;
    if (hides_package(path, recipe))
        return refuse(why,
                      "-o %.200s: a script of that name hides the package %s; capture.py is "
                      "right",
                      path, recipes[recipe].package);
    if (!file_begin(&f, path, r->scenario->given[OPTION_FORCE], why))
        return false;
    report_making(r, path);
    fputs(script, f.stream);
    return file_commit(&f, why);
}

/* The script on the output, unless it goes to a file: then what to know about it. */
static bool answer(struct report *r, const struct scenario *s, struct message *why)
{
    enum recipe recipe = RECIPE_ANY;
    char *path;
    bool ok = true, filed = false;
    if (s->problem == NULL) {
        list_recipes(r);
        return !s->given[OPTION_OUTPUT] || strstr(s->value[OPTION_OUTPUT], ".py") == NULL ||
               refuse(why, "-o .py: which recipe? flashulp recipe names them");
    }
    if (!find_recipe(s->problem, &recipe, why))
        return false;
    char *script = make_script(recipe);
    for (int n = 0; ok && (path = report_output(s, n)) != NULL; n++) {
        if (ends_with(path, ".py")) {
            filed = true;
            ok = write_script(r, path, recipe, script, why);
        }
        free(path);
    }
    explain(r, recipe);
    json_string(r->json, "script", script);
    if (!filed) {
        free(r->text);
        r->text = script;
    } else {
        free(script);
    }
    return ok;
}

int cli_recipe(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_RECIPE, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "py json md csv", NULL, 0, &why) || !answer(&r, &s, &why) ||
        !report_finish(&r, &why)) {
        report_undo(&r);
        status = cli_refused("recipe", &why);
    }
    report_free(&r);
    scenario_free(&s);
    return status;
}
