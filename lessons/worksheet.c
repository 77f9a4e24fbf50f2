/* worksheet.c: see worksheet.h. */
#include "lessons/worksheet.h"

#include <stdio.h>
#include <stdlib.h>

#include "simulator/scenario_parts.h"

static void add_blank(struct worksheet *w, const char *name, const char *meaning, double value)
{
    struct blank *b = &w->blank[w->blanks++];
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->meaning, sizeof b->meaning, "%s", meaning);
    b->value = value;
}

/* Distinct scores in halves, the largest in the second tile so that something is rescaled. */
static void draw_example(struct worksheet *w, const unsigned char digest[32])
{
    for (int i = 0; i < 4; i++) {
        w->x[i] = (double)(digest[i] % 5) / 2 + (i == 1 ? 0.5 : 0);
        w->v[i] = 10 * (double)(1 + digest[8 + i] % 6);
    }
    double first = fmax(w->x[0], w->x[1]);
    w->x[2] = first + 0.5 + (double)(digest[4] % 3) / 2;
}

static void fill_blanks(struct worksheet *w, bool divided)
{
    const double *x = w->x, *v = w->v;
    double m1 = fmax(x[0], x[1]), p0 = exp(x[0] - m1), p1 = exp(x[1] - m1), l1 = p0 + p1;
    double O1 = p0 * v[0] + p1 * v[1], m2 = fmax(m1, fmax(x[2], x[3])), a = exp(m1 - m2);
    double p2 = exp(x[2] - m2), p3 = exp(x[3] - m2), l2 = a * l1 + p2 + p3;
    double O2 = a * O1 + p2 * v[2] + p3 * v[3];
    add_blank(w, "m", "tile 1: the largest score", m1);
    add_blank(w, "p[0]", "tile 1: e^(x[0] - m)", p0);
    add_blank(w, "p[1]", "tile 1: e^(x[1] - m)", p1);
    add_blank(w, "l", "tile 1: the sum of the weights", l1);
    add_blank(w, divided ? "O" : "O~",
              divided ? "tile 1: sum p v, divided by l" : "tile 1: sum p v",
              divided ? O1 / l1 : O1);
    add_blank(w, "m", "tile 2: the largest score so far", m2);
    add_blank(w, "a", "tile 2: the rescale factor e^(m_old - m)", a);
    add_blank(w, "p[2]", "tile 2: e^(x[2] - m)", p2);
    add_blank(w, "p[3]", "tile 2: e^(x[3] - m)", p3);
    add_blank(w, "l", "tile 2: a l + sum of the weights", l2);
    if (!divided)
        add_blank(w, "O~", "tile 2: a O~ + sum p v", O2);
    add_blank(w, "O", divided ? "tile 2: (a l_old O + sum p v) / l" : "at the end: O~ / l",
              O2 / l2);
    add_blank(w, "L", "at the end: m + ln l", m2 + log(l2));
}

bool worksheet_new(struct worksheet *w, const char *form, const struct course *c,
                   const char *student, struct message *why)
{
    const struct lab *lab = lab_from_name(form, why);
    unsigned char digest[32];
    char text[160];
    *w = (struct worksheet){.blanks = 0};
    if (lab == NULL)
        return false;
    bool five = strcmp(lab->number, "05") == 0;
    if (!five && strcmp(lab->number, "07") != 0)
        return refuse(why, "lesson %s has no worksheet; 05 and 07 have", lab->number);
    snprintf(text, sizeof text, "worksheet %s/%.100s", lab->number, student);
    hmac_sha256(c->secret, text, digest);
    draw_example(w, digest);
    fill_blanks(w, five);
    return true;
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
    report_text(r, " x = [ %g %g | %g %g ]   v = [ %g %g | %g %g ]   scale 1\n\n", w->x[0], w->x[1],
                w->x[2], w->x[3], w->v[0], w->v[1], w->v[2], w->v[3]);
    for (int i = 0; i < w->blanks; i++)
        report_text(r, " %2d  %-6s %-44s ____________\n", i + 1, w->blank[i].name,
                    w->blank[i].meaning);
    report_text(r,
                "\n three digits each; then  flashulp worksheet %s --student %s --answers "
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
        report_text(r, " %2d  %-6s %-44s %10.10s  %s\n", n + 1, b->name, b->meaning,
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
