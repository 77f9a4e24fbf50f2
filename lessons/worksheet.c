/* worksheet.c: see worksheet.h. */
#include "lessons/worksheet.h"

#include <stdio.h>
#include <stdlib.h>

#include "simulator/scenario_parts.h"

bool worksheet_new(struct worksheet *w, const char *form, const struct course *c,
                   const char *student, struct message *why)
{
    const struct lab *lab = lab_from_name(form, why);
    unsigned char digest[32];
    char text[160], list[80] = "";
    *w = (struct worksheet){.blanks = 0};
    if (lab == NULL)
        return false;
    snprintf(text, sizeof text, "worksheet %s/%.100s", lab->number, student);
    hmac_sha256(c->secret, text, digest);
    for (int n = 0; worksheet_form(n) != NULL; n++) {
        const struct worksheet_form *f = worksheet_form(n);
        if (strcmp(f->number, lab->number) == 0) {
            f->make(w, digest);
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n > 0 ? " " : "",
                 f->number);
    }
    return refuse(why, "lesson %s has no worksheet; %s have", lab->number, list);
}

/* How many digits stand behind the point, and how many are significant. */
static void count_digits(const char *typed, int *behind, int *significant)
{
    bool point = false, begun = false;
    *behind = *significant = 0;
    for (; *typed != 0; typed++) {
        point = point || *typed == '.';
        if (*typed < '0' || *typed > '9')
            continue;
        begun = begun || *typed != '0';
        *significant += begun;
        *behind += point;
    }
}

bool worksheet_right(const struct blank *b, const char *typed)
{
    char *end;
    double x = strtod(typed, &end);
    int behind, significant;
    if (end == typed || *end != 0)
        return false;
    count_digits(typed, &behind, &significant);
    if (x == b->value)
        return true;
    /* by hand, from intermediate results that were rounded: one unit of the last digit */
    return significant >= 3 &&
           fabs(x - b->value) <= fmin(pow(10, -behind), 0.01 * fabs(b->value)) * 1.000001;
}

static void print_sheet(struct report *r, const struct worksheet *w, const char *number,
                        const char *student)
{
    report_text(r, "worksheet %s for %s\n\n", number, student);
    report_text(r, " %s\n\n", w->given);
    for (int i = 0; i < w->blanks; i++)
        report_text(r, " %2d  %-8s %-44s ____________\n", i + 1, w->blank[i].name,
                    w->blank[i].meaning);
    report_text(
        r,
        "\n three digits each, or exact; then  flashulp worksheet %s --student %s --answers "
        "\"...\"\n",
        number, student);
}

/* The typed numbers, one for each blank; `-` for none. */
static int mark(struct report *r, const struct worksheet *w, const char *answers)
{
    struct json *list = json_list(r->json, "blanks");
    char *copy = NULL, *place = NULL;
    int right = 0, n = 0;
    text_append(&copy, "%s", answers);
    report_row(r, "blank\ttyped\tright");
    for (char *word = strtok_r(copy, " ,;\n", &place); n < w->blanks; n++) {
        const struct blank *b = &w->blank[n];
        bool ok = word != NULL && worksheet_right(b, word);
        struct json *j = json_object(list, NULL);
        json_string(j, "name", b->name);
        json_string(j, "typed", word != NULL ? word : "");
        json_truth(j, "right", ok);
        report_text(r, " %2d  %-8s %-44s %10.10s  %s\n", n + 1, b->name, b->meaning,
                    word != NULL ? word : "-", ok ? "right" : "wrong");
        report_row(r, "%s\t%s\t%s", b->name, word != NULL ? word : "", ok ? "right" : "wrong");
        right += ok;
        word = word != NULL ? strtok_r(NULL, " ,;\n", &place) : NULL;
    }
    free(copy);
    report_text(r, "%52s%d of %d\n", "", right, w->blanks);
    json_whole(r->json, "right", right);
    json_whole(r->json, "blanks_in_all", w->blanks);
    return right < w->blanks;
}

static bool answer(struct report *r, const struct scenario *s, int *status, struct message *why)
{
    struct worksheet w;
    struct course c;
    const char *student = s->value[OPTION_STUDENT], *answers = s->value[OPTION_ANSWERS];
    course_defaults(&c);
    if (s->problem == NULL)
        return refuse(why, "which lesson?  flashulp worksheet 07 --student ID is right");
    if (student == NULL)
        return refuse(why, "whose is it?  --student ID is right");
    if ((s->value[OPTION_CONF] != NULL && !course_read(s->value[OPTION_CONF], &c, why)) ||
        !worksheet_new(&w, s->problem, &c, student, why))
        return false;
    json_string(r->json, "student", student);
    if (answers != NULL)
        *status = mark(r, &w, answers);
    else
        print_sheet(r, &w, s->problem, student);
    return true;
}

int worksheet_main(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    const struct command_info *info = command_info(COMMAND_WORKSHEET);
    int status = 0;
    bool ok = scenario_parse(&s, info->name, info->groups, argc, argv, &why);
    if (ok) {
        report_new(&r, &s);
        ok = report_check_outputs(&s, "json md csv", NULL, 0, &why) &&
             answer(&r, &s, &status, &why) && report_finish(&r, &why);
        report_free(&r);
        scenario_free(&s);
    }
    if (!ok) {
        fprintf(stderr, "flashulp worksheet: %s\n", why.text);
        return 2;
    }
    return status;
}
