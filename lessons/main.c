/* main.c: `flashulp-lab`, which `flashulp lab` and `flashulp worksheet` become: grades one file, or
   a folder of them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lessons/folder.h"
#include "lessons/worksheet.h"
#include "reference/tensor.h"
#include "simulator/data.h"
#include "simulator/scenario_parts.h"

static int refused(const struct message *why)
{
    fprintf(stderr, "flashulp lab: %s\n", why->text);
    return 2;
}

static bool write_text(const char *path, const char *text, bool force, struct message *why)
{
    struct output_file f;
    if (!file_begin(&f, path, force, why))
        return false;
    fputs(text, f.stream);
    return file_commit(&f, why);
}

/* --junit FILE, --gradescope FILE */
static bool write_files(const struct scenario *s, const struct graded *x, struct message *why)
{
    static const struct {
        enum option option;
        char *(*text)(const struct graded *x);
    } files[] = {{OPTION_JUNIT, result_junit}, {OPTION_GRADESCOPE, result_gradescope}};
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        const char *path = s->value[files[i].option];
        if (path == NULL)
            continue;
        char *text = files[i].text(x);
        ok = write_text(path, text, s->given[OPTION_FORCE], why);
        free(text);
    }
    return ok;
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void list_labs(struct report *r)
{
    struct json *list = json_list(r->json, "labs");
    report_text(r, "  #  lab                                                    points\n");
    for (int n = 0; lab_at(n) != NULL; n++) {
        const struct lab *lab = lab_at(n);
        struct json *j = json_object(list, NULL);
        json_string(j, "number", lab->number);
        json_string(j, "title", lab->title);
        json_whole(j, "points", lab_points(lab));
        report_text(r, " %s  %-55s %5d\n", lab->number, lab->title, lab_points(lab));
    }
    report_text(r, "\nstart one: cp lessons/07-fa2/lab.c fa2.c; flashulp lab 07 fa2.c\n");
}

static bool read_course(const struct scenario *s, struct course *c, struct message *why)
{
    const char *path = s->value[OPTION_CONF];
    course_defaults(c);
    if (path != NULL && !course_read(path, c, why))
        return false;
    if (s->given[OPTION_STUDENT] && !c->variants)
        return refuse(why,
                      "--student goes with --conf course.ini, which holds the course's secret");
    if (s->given[OPTION_HIDDEN])
        c->show_hidden = true;
    return true;
}

static bool print_stub(struct report *r, const struct course *c, const struct lab *lab,
                       const char *student, struct message *why)
{
    struct variant v = course_variant(c, lab, student);
    unsigned char *text;
    size_t size;
    char name[64];
    snprintf(name, sizeof name, "%s-%s/lab.%s", lab->number, lab->folder, lab->cuda ? "cu" : "c");
    char *path = shipped_file(SHIPPED_LESSONS, name, why);
    bool ok = path != NULL && file_read(path, 1 << 20, &text, &size, why);
    if (ok) {
        char *stub = course_stub((char *)text, lab, &v);
        report_text(r, "%s", stub);
        free(stub);
        free(text);
    }
    free(path);
    return ok;
}

static bool answer(struct report *r, const struct scenario *s, int *status, struct message *why)
{
    struct course c;
    struct graded x;
    if (s->problem == NULL) {
        list_labs(r);
        return true;
    }
    const struct lab *plain = lab_from_name(s->problem, why);
    if (plain == NULL || !read_course(s, &c, why))
        return false;
    if (s->given[OPTION_STUB])
        return print_stub(r, &c, plain, s->value[OPTION_STUDENT], why);
    if (s->other == NULL)
        return refuse(why, "lab %s of which file?  flashulp lab %s FILE.c is right", plain->number,
                      plain->number);
    struct lab lab = course_lab(&c, plain);
    if (is_folder(s->other))
        return grade_folder(r, s, &c, &lab, s->other, why);
    if (s->given[OPTION_CSV] || s->given[OPTION_JOBS])
        return refuse(why, "%s is about a folder of files STUDENT.c",
                      s->given[OPTION_CSV] ? "--csv" : "--jobs");
    if (!course_grade(&c, &lab, s->other, s->value[OPTION_STUDENT], &x, why))
        return false;
    result_text(r, &x);
    result_json(r, &x);
    report_row(r, "property\tpoints\tmax_points\tresult");
    int possible = 0;
    for (int i = 0; i < MAX_PROPERTIES && lab.properties[i].name != NULL; i++) {
        possible += result_told(&x, i) ? lab.properties[i].points : 0;
        report_row(r, "%s\t%d\t%d\t%s", lab.properties[i].name,
                   x.built.ok && x.grading.results[i].begun && !x.grading.results[i].failed &&
                           result_told(&x, i)
                       ? lab.properties[i].points
                       : 0,
                   lab.properties[i].points, result_sentence(&x, i));
    }
    *status = result_points(&x) < possible;
    if (*status != 0)
        report_text(r, "exit 1\n");
    return write_files(s, &x, why);
}

int main(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    const struct command_info *info = command_info(COMMAND_LAB);
    int status = 0;
    signal(SIGPIPE, SIG_IGN);
    process_conceal();
    if (argc > 1 && strcmp(argv[1], "worksheet") == 0)
        return worksheet_main(argc - 2, argv + 2);
    if (argc < 2 || strcmp(argv[1], "lab") != 0) {
        refuse(&why, "flashulp lab runs this program");
        return refused(&why);
    }
    if (!scenario_parse(&s, info->name, info->groups, argc - 2, argv + 2, &why))
        return refused(&why);
    report_new(&r, &s);
    if (!report_check_outputs(&s, "json md csv", NULL, 0, &why) || !answer(&r, &s, &status, &why) ||
        !report_finish(&r, &why))
        status = refused(&why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
