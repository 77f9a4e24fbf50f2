/* lesson.c: `flashulp lesson [N]`: the list of lessons, or one of them, each of its commands run where
   it stands.  On a terminal it waits for a key line before each command and before the answers.

   A lesson is Markdown (lessons/NN-name/README.md).  "<!-- WORDS -->" up to "<!-- end -->" stands for
   the output of `flashulp WORDS`; make check-lessons holds what the file shows against it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/data.h"
#include "simulator/lessons.h"

static void add_routes(struct json *j, const struct lesson_info *lesson)
{
    struct json *list = json_list(j, "routes");
    for (int r = 0; r < ROUTE_COUNT; r++)
        if (lesson_on(lesson, (enum route)r))
            json_string(list, NULL, route_name((enum route)r));
}

static void list_lessons(struct report *r)
{
    int minutes[ROUTE_COUNT] = {0};
    struct json *list = json_list(r->json, "lessons");
    report_text(r, "  #  lesson                                                minutes  routes\n");
    report_row(r, "number\tfolder\ttitle\tminutes");
    for (int n = 0; lesson_info(n) != NULL; n++) {
        const struct lesson_info *l = lesson_info(n);
        struct json *j = json_object(list, NULL);
        json_string(j, "number", l->number);
        json_string(j, "folder", l->folder);
        json_string(j, "title", l->title);
        json_whole(j, "minutes", l->minutes);
        add_routes(j, l);
        report_row(r, "%s\t%s\t%s\t%d", l->number, l->folder, l->title, l->minutes);
        report_text(r, " %s  %-53s  %5d   ", l->number, l->title, l->minutes);
        for (int route = 0; route < ROUTE_COUNT; route++) {
            bool on = lesson_on(l, (enum route)route);
            minutes[route] += on ? l->minutes : 0;
            report_text(r, " %c", on ? route_name((enum route)route)[0] : '.');
        }
        report_text(r, "\n");
    }
    report_text(r, "\n");
    for (int route = 0; route < ROUTE_COUNT; route++)
        report_text(r, " %c  %-11s %3d minutes  %s\n", route_name((enum route)route)[0],
                    route_name((enum route)route), minutes[route], route_meaning((enum route)route));
    report_text(r, "\nread one: flashulp lesson 07\n");
}

struct reading {
    FILE *text;
    bool asks; /* a reader at a terminal */
    bool left; /* who has had enough */
};

static bool bold_headings(void)
{
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no == NULL || no[0] == 0);
}

/* Waits for a line; false where the reader passes over what comes next. */
static bool wait_for(struct reading *r, const char *what)
{
    char line[64];
    if (!r->asks)
        return true;
    printf("[ Enter: %s   s: pass over it   q: leave ] ", what);
    fflush(stdout);
    r->left = fgets(line, sizeof line, stdin) == NULL || line[0] == 'q';
    return !r->left && line[0] != 's';
}

/* Runs `flashulp WORDS`, its output where ours goes. */
static bool run_command(const char *words, struct message *why)
{
    char folder[PATH_MAX], program[PATH_MAX + 16];
    char command[512];
    int status;
    program_folder(folder);
    snprintf(program, sizeof program, "%s/flashulp", folder);
    if (snprintf(command, sizeof command, "exec \"$0\" %s", words) >= (int)sizeof command)
        return refuse(why, "a command of the lesson is too long: %.60s...", words);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, program, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return refuse(why, "flashulp %.200s cannot be run: %s", words, strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return refuse(why, "the lesson's command failed: flashulp %.200s", words);
    return true;
}

/* Passes over what the file shows below a command. */
static void pass_output(struct reading *r)
{
    char line[512];
    while (fgets(line, sizeof line, r->text) != NULL && strcmp(line, "<!-- end -->\n") != 0)
        continue;
}

static bool show_command(struct reading *r, char *line, struct message *why)
{
    char *words = line + strlen("<!-- "), *end = strstr(words, " -->");
    if (strncmp(words, "picture: ", 9) == 0) /* the picture's own line follows */
        return true;
    if (end == NULL)
        return refuse(why, "the lesson has a comment without an end: %.60s", line);
    *end = 0;
    printf("$ flashulp %s\n", words);
    pass_output(r);
    return !wait_for(r, "run it") || run_command(words, why);
}

static void show_line(struct reading *r, const char *line, bool bold)
{
    if (strncmp(line, "<summary>", 9) == 0)
        wait_for(r, "the answers");
    else if (line[0] == '#' && bold)
        printf("\033[1m%.*s\033[0m\n", (int)strcspn(line, "\n"), line);
    else if (line[0] != '<')
        fputs(line, stdout);
}

static bool read_lesson(const struct lesson_info *lesson, struct message *why)
{
    char line[512];
    char *path = lesson_path(lesson, why);
    struct reading r = {.asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    bool ok = true, bold = bold_headings();
    if (path == NULL)
        return false;
    r.text = fopen(path, "r");
    if (r.text == NULL)
        ok = refuse(why, "%.300s: %s", path, strerror(errno));
    while (ok && !r.left && fgets(line, sizeof line, r.text) != NULL) {
        if (strncmp(line, "<!-- ", 5) == 0)
            ok = show_command(&r, line, why);
        else
            show_line(&r, line, bold);
    }
    if (r.text != NULL)
        fclose(r.text);
    free(path);
    return ok;
}

/* A lesson is read, not reported. */
static bool wants_file(const struct scenario *s)
{
    return s->given[OPTION_JSON] || s->value[OPTION_OUTPUT] != NULL;
}

static bool answer(struct report *r, const struct scenario *s, struct message *why)
{
    const struct lesson_info *lesson;
    if (s->problem == NULL) {
        list_lessons(r);
        return report_finish(r, why);
    }
    lesson = lesson_from_name(s->problem, why);
    if (lesson == NULL)
        return false;
    if (wants_file(s))
        return refuse(why, "--json and -o go with the list of lessons; one lesson is text for reading");
    return read_lesson(lesson, why);
}

int cli_lesson(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_LESSON, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "json md csv", NULL, 0, &why) || !answer(&r, &s, &why))
        status = cli_refused("lesson", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
