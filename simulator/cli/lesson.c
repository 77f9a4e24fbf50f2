/* lesson.c: `flashulp lesson [N]`: the list of lessons, or one of them, each of its commands run where
   it stands.  On a terminal it waits for a key line before each command and before the answers.

   A lesson is Markdown (lessons/NN-name/README.md).  "<!-- WORDS -->" up to "<!-- end -->" stands for
   the output of `flashulp WORDS`, "<!-- picture: WORDS -->" for what it draws, with the picture on
   the next line; make check-lessons holds what the files show against it. */
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
#include "simulator/scenario_parts.h"

#define MARK "<!-- "
#define PICTURE "picture: "
enum { LINE = 1024 };

static void add_routes(struct json *j, const struct lesson_info *lesson)
{
    struct json *list = json_list(j, "routes");
    for (int r = 0; r < ROUTE_COUNT; r++)
        if (lesson_on(lesson, (enum route)r))
            json_string(list, NULL, route_name((enum route)r));
}

static void add_lesson(struct json *j, const struct lesson_info *l)
{
    json_string(j, "number", l->number);
    json_string(j, "folder", l->folder);
    json_string(j, "title", l->title);
    json_whole(j, "minutes", l->minutes);
    add_routes(j, l);
}

static void list_lessons(struct report *r)
{
    int minutes[ROUTE_COUNT] = {0};
    struct json *list = json_list(r->json, "lessons");
    report_text(r, "  #  lesson                                                minutes  routes\n");
    report_row(r, "number\tfolder\ttitle\tminutes");
    for (int n = 0; lesson_info(n) != NULL; n++) {
        const struct lesson_info *l = lesson_info(n);
        add_lesson(json_object(list, NULL), l);
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
                    route_name((enum route)route), minutes[route],
                    route_meaning((enum route)route));
    report_text(r, "\nread one: flashulp lesson 07\n");
}

struct reading {
    FILE *text;
    const char *path;
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
    char command[LINE];
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

/* Passes over what the file shows, up to and with the line `last`. */
static void pass_over(struct reading *r, const char *last)
{
    char line[LINE];
    while (fgets(line, sizeof line, r->text) != NULL && strcmp(line, last) != 0)
        continue;
}

/* "![what it shows](file)": NULL where the line is none. */
static char *picture_parts(char *line, char **shows)
{
    char *file = strstr(line, "](");
    if (strncmp(line, "![", 2) != 0 || file == NULL)
        return NULL;
    *file = 0;
    *shows = line + 2;
    file += 2;
    file[strcspn(file, ")")] = 0;
    return file;
}

/* A terminal shows no picture: where it is, and what opens it. */
static bool show_picture(struct reading *r, const char *words, struct message *why)
{
    char line[LINE], *shows, *text = NULL;
    const char *file = fgets(line, sizeof line, r->text) ? picture_parts(line, &shows) : NULL;
    const char *last = strstr(words, " && ");
    bool opens = strncmp(last != NULL ? last + 4 : words, "view", 4) == 0;
    if (file == NULL)
        return refuse(why, "the lesson has no picture below the line picture: %.60s", words);
    text_append(&text, "picture  ");
    text_wrapped(&text, 9, 9, shows);
    text_append(&text, "         %.*s/%s\n", (int)(strrchr(r->path, '/') - r->path), r->path, file);
    text_append(&text, "  %s  flashulp ", opens ? "opens" : "draws");
    if (last != NULL)
        text_append(&text, "%.*s &&\n         flashulp ", (int)(last - words), words);
    text_append(&text, "%s%s%s\n", last != NULL ? last + 4 : words, opens ? "" : " -o ",
                opens ? "" : file);
    fputs(text, stdout);
    free(text);
    return true;
}

/* The words of "<!-- WORDS -->", or NULL. */
static char *marked_words(char *line)
{
    char *end = strstr(line, " -->");
    if (strncmp(line, MARK, strlen(MARK)) != 0 || end == NULL)
        return NULL;
    *end = 0;
    return line + strlen(MARK);
}

static bool is_picture(const char *words)
{
    return strncmp(words, PICTURE, strlen(PICTURE)) == 0;
}

static bool show_marked(struct reading *r, char *line, struct message *why)
{
    char *words = marked_words(line);
    if (words == NULL)
        return refuse(why, "the lesson has a comment without an end: %.60s", line);
    if (is_picture(words))
        return show_picture(r, words + strlen(PICTURE), why);
    printf("$ flashulp %s\n", words);
    pass_over(r, "<!-- end -->\n");
    return !wait_for(r, "run it") || run_command(words, why);
}

static void show_line(struct reading *r, const char *line, bool bold)
{
    if (strncmp(line, "<summary>", 9) == 0) {
        if (wait_for(r, "the answers"))
            puts("Answers");
        else
            pass_over(r, "</details>\n");
    } else if (line[0] == '#' && bold) {
        printf("\033[1m%.*s\033[0m\n", (int)strcspn(line, "\n"), line);
    } else if (line[0] != '<') {
        fputs(line, stdout);
    }
}

static bool read_lesson(const char *path, struct message *why)
{
    char line[LINE];
    struct reading r = {.path = path, .asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    bool ok = true, bold = bold_headings();
    r.text = fopen(path, "r");
    if (r.text == NULL)
        return refuse(why, "%.300s: %s", path, strerror(errno));
    while (ok && !r.left && fgets(line, sizeof line, r.text) != NULL) {
        if (strncmp(line, MARK, strlen(MARK)) == 0)
            ok = show_marked(&r, line, why);
        else
            show_line(&r, line, bold);
    }
    fclose(r.text);
    return ok;
}

/* What a lesson consists of: its file, its commands and its pictures. */
static bool describe_lesson(struct report *r, const struct lesson_info *lesson, const char *path,
                            struct message *why)
{
    char line[LINE], *words, *shows;
    FILE *text = fopen(path, "r");
    if (text == NULL)
        return refuse(why, "%.300s: %s", path, strerror(errno));
    add_lesson(r->json, lesson);
    json_string(r->json, "file", path);
    report_text(r, "%s  %s, %d minutes\n%s\n", lesson->number, lesson->title, lesson->minutes,
                path);
    report_row(r, "what\tcommand\tfile");
    struct json *commands = json_list(r->json, "commands"),
                *pictures = json_list(r->json, "pictures");
    while (fgets(line, sizeof line, text) != NULL) {
        words = marked_words(line);
        if (words == NULL || strcmp(words, "end") == 0)
            continue;
        if (!is_picture(words)) {
            json_string(commands, NULL, words);
            report_row(r, "output\tflashulp %s\t", words);
            continue;
        }
        char below[LINE],
            *file = fgets(below, sizeof below, text) ? picture_parts(below, &shows) : NULL;
        struct json *picture = json_object(pictures, NULL);
        json_string(picture, "command", words + strlen(PICTURE));
        json_string(picture, "file", file != NULL ? file : "");
        report_row(r, "picture\tflashulp %s\t%s", words + strlen(PICTURE),
                   file != NULL ? file : "");
    }
    fclose(text);
    return report_finish(r, why);
}

static bool answer(struct report *r, const struct scenario *s, struct message *why)
{
    const struct lesson_info *lesson;
    if (s->problem == NULL) {
        list_lessons(r);
        return report_finish(r, why);
    }
    lesson = lesson_from_name(s->problem, why);
    char *path = lesson != NULL ? lesson_path(lesson, why) : NULL;
    if (path == NULL)
        return false;
    bool reports = s->given[OPTION_JSON] || s->value[OPTION_OUTPUT] != NULL;
    bool ok = reports ? describe_lesson(r, lesson, path, why) : read_lesson(path, why);
    free(path);
    return ok;
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
