/* result.c: see result.h.  The rubric's version is a digest of the lab's properties and points. */
#include "lessons/result.h"

#include <stdio.h>
#include <stdlib.h>

#include "reference/sha256.h"
#include "simulator/scenario_parts.h"

struct variant_text variant_text(const struct lab *lab, const struct variant *v)
{
    struct variant_text t = {""};
    size_t room = sizeof t.text, n = 0;
    if (v->student == NULL)
        return t;
    n += (size_t)snprintf(t.text, room, "variant %.40s:", v->student);
    if (lab->knobs & KNOB_DIRECTION)
        n += (size_t)snprintf(t.text + n, room - n, " KV %s;",
                              v->direction > 0 ? "first to last" : "last to first");
    if (lab->knobs & KNOB_BASE)
        n += (size_t)snprintf(t.text + n, room - n, " base %s;", v->base == 2 ? "2" : "e");
    if (lab->knobs & KNOB_SHAPE)
        n += (size_t)snprintf(t.text + n, room - n, " %s%d%s;", lab->shape[0], v->shape,
                              lab->shape[1]);
    if (lab->knobs & KNOB_WINDOW)
        n += (size_t)snprintf(t.text + n, room - n, " window (%d,0);", v->window);
    if (lab->knobs & KNOB_BITS)
        n += (size_t)snprintf(t.text + n, room - n, " %d fraction bits;", v->bits);
    if (lab->knobs == 0)
        n += (size_t)snprintf(t.text + n, room - n, " its own numbers;");
    t.text[n - 1] = 0;
    return t;
}

/* Names and points: a changed rubric has another version. */
static struct sha256_text rubric(const struct lab *lab)
{
    struct sha256 digest;
    sha256_start(&digest);
    for (int i = 0; i < MAX_PROPERTIES && lab->properties[i].name != NULL; i++) {
        const struct property *p = &lab->properties[i];
        sha256_add(&digest, p->name, strlen(p->name) + 1);
        sha256_add(&digest, &(unsigned char){(unsigned char)p->points}, 1);
    }
    struct sha256_text text = sha256_end(&digest);
    text.text[8] = 0;
    return text;
}

bool result_told(const struct graded *x, int property)
{
    return x->show_hidden || !x->lab->properties[property].hidden;
}

/* As if everything were shown now. */
static const char *whole_sentence(const struct graded *x, int property)
{
    const struct finding *r = &x->grading.results[property];
    if (!x->built.ok)
        return "not tried: the file was not built";
    if (!r->begun)
        return "not tried";
    if (!r->failed)
        return "ok";
    return x->feedback == FEEDBACK_CAUSE ? r->sentence : "wrong";
}

const char *result_sentence(const struct graded *x, int property)
{
    return result_told(x, property) ? whole_sentence(x, property) : "shown after the due date";
}

static int earned(const struct graded *x, int property)
{
    const struct finding *r = &x->grading.results[property];
    return x->built.ok && r->begun && !r->failed ? x->lab->properties[property].points : 0;
}

int result_points(const struct graded *x)
{
    return x->built.ok ? points_earned(&x->grading, x->show_hidden) : 0;
}

/* The first property that failed at a number, if that may be told; -1: none. */
static int first_shown(const struct graded *x)
{
    for (int i = 0; i < MAX_PROPERTIES && x->lab->properties[i].name != NULL; i++)
        if (x->built.ok && x->feedback == FEEDBACK_CAUSE && result_told(x, i) &&
            x->grading.results[i].failed && x->grading.results[i].difference[0] != 0)
            return i;
    return -1;
}

void result_text(struct report *r, const struct graded *x)
{
    const struct lab *lab = x->lab;
    report_text(r, "lab %s  %s", lab->number, lab->title);
    struct variant_text v = variant_text(lab, &x->variant);
    report_text(r, "%s%s\n", v.text[0] != 0 ? "      " : "", v.text);
    if (!x->built.ok)
        report_text(r, " %s: %s\n", x->file, x->built.sentence);
    report_text(r, " property                         points   result\n");
    for (int i = 0; i < MAX_PROPERTIES && lab->properties[i].name != NULL; i++) {
        const struct property *p = &lab->properties[i];
        char points[8] = "-";
        if (x->feedback == FEEDBACK_NONE)
            continue;
        if (result_told(x, i))
            snprintf(points, sizeof points, "%d", earned(x, i));
        char *text = NULL;
        text_append(&text, " %-32s %2s / %d   ", p->name, points, p->points);
        text_wrapped(&text, 43, 43, result_sentence(x, i));
        report_text(r, "%s", text);
        free(text);
    }
    report_text(r, "%34s------\n%34s%2d / %d\n", "", "", result_points(x), lab_points(lab));
    int first = first_shown(x);
    if (first >= 0)
        report_text(r, " first difference   %s\n", x->grading.results[first].difference);
    if (first >= 0 && x->grading.results[first].see[0] != 0)
        report_text(r, " see it             %s\n", x->grading.results[first].see);
    if (x->grading.said[0] != 0 && strstr(x->grading.said, "[0x") == NULL)
        report_text(r, " printed, which counts for nothing: %.30s\n",
                    quoted(x->grading.said, strcspn(x->grading.said, "\n")).text);
    report_text(r, " rubric %s\n", rubric(lab).text);
}

void result_json(struct report *r, const struct graded *x)
{
    const struct lab *lab = x->lab;
    struct json *j = r->json, *list;
    json_string(j, "lab", lab->number);
    json_string(j, "file", x->file);
    json_string(j, "student", x->variant.student != NULL ? x->variant.student : "");
    json_string(j, "rubric", rubric(lab).text);
    json_truth(j, "built", x->built.ok);
    json_string(j, "build_error", x->built.sentence);
    json_whole(j, "points", result_points(x));
    json_whole(j, "max_points", lab_points(lab));
    json_real(j, "seconds", x->seconds);
    struct json *limits = json_object(j, "limits");
    json_real(limits, "seconds", lab->allowance.seconds);
    json_whole(limits, "memory_mib", lab->allowance.memory);
    json_whole(limits, "output_kb", lab->allowance.output);
    list = json_list(j, "properties");
    for (int i = 0; i < MAX_PROPERTIES && lab->properties[i].name != NULL; i++) {
        struct json *p = json_object(list, NULL);
        json_string(p, "name", lab->properties[i].name);
        json_whole(p, "points", result_told(x, i) ? earned(x, i) : 0);
        json_whole(p, "max_points", lab->properties[i].points);
        json_truth(p, "hidden", lab->properties[i].hidden);
        json_string(p, "result", result_sentence(x, i));
        bool shown = x->feedback == FEEDBACK_CAUSE && result_told(x, i);
        json_string(p, "difference", shown ? x->grading.results[i].difference : "");
        json_string(p, "see", shown ? x->grading.results[i].see : "");
    }
}

/* Text inside XML: what has a meaning there is escaped, what XML forbids becomes '?'. */
static void append_xml(char **to, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
        if (*at == '<' || *at == '>' || *at == '&' || *at == '"')
            text_append(to, "&#%d;", *at);
        else
            text_append(to, "%c", *at < 32 || *at > 126 ? '?' : *at);
    }
}

char *result_junit(const struct graded *x)
{
    const struct lab *lab = x->lab;
    char *to = NULL;
    int count = 0, failures = 0;
    for (; count < MAX_PROPERTIES && lab->properties[count].name != NULL; count++)
        failures += result_told(x, count) && earned(x, count) == 0;
    text_append(&to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"lab %s\" "
                "tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n",
                lab->number, count, failures, x->seconds);
    for (int i = 0; i < count; i++) {
        text_append(&to, "  <testcase classname=\"lab%s\" name=\"", lab->number);
        append_xml(&to, lab->properties[i].name);
        text_append(&to, "\">");
        if (!result_told(x, i)) {
            text_append(&to, "<skipped/>");
        } else if (earned(x, i) == 0) {
            text_append(&to, "<failure message=\"");
            append_xml(&to, x->built.ok ? result_sentence(x, i) : x->built.sentence);
            text_append(&to, "\"/>");
        }
        text_append(&to, "</testcase>\n");
    }
    text_append(&to, "</testsuite>\n");
    return to;
}

/* Gradescope itself hides what is not to be seen yet, points and sentence. */
static void gradescope_test(struct json *list, const struct graded *x, int i)
{
    const struct property *p = &x->lab->properties[i];
    struct json *t = json_object(list, NULL);
    bool none = x->feedback == FEEDBACK_NONE;
    json_string(t, "name", p->name);
    json_whole(t, "score", earned(x, i));
    json_whole(t, "max_score", p->points);
    json_string(t, "status", earned(x, i) == p->points ? "passed" : "failed");
    char *text = NULL;
    const struct finding *r = &x->grading.results[i];
    text_append(&text, "%s", none ? "" : !x->built.ok ? x->built.sentence : whole_sentence(x, i));
    if (x->feedback == FEEDBACK_CAUSE && x->built.ok && r->failed && r->difference[0] != 0)
        text_append(&text, "\nfirst difference: %s", r->difference);
    if (x->feedback == FEEDBACK_CAUSE && x->built.ok && r->failed && r->see[0] != 0)
        text_append(&text, "\nsee it: %s", r->see);
    json_string(t, "output", text);
    free(text);
    json_string(t, "visibility",
                !result_told(x, i) ? (x->due ? "after_due_date" : "after_published")
                : none             ? "hidden"
                                   : "visible");
}

char *result_gradescope(const struct graded *x)
{
    static const struct scenario nothing = {.verb = "lab"};
    struct report r;
    report_new(&r, &nothing);
    struct json *list = json_list(r.json, "tests");
    json_string(r.json, "output", x->built.ok ? "" : x->built.sentence);
    json_string(r.json, "rubric", rubric(x->lab).text);
    for (int i = 0; i < MAX_PROPERTIES && x->lab->properties[i].name != NULL; i++)
        gradescope_test(list, x, i);
    char *text = json_text(r.json);
    report_free(&r);
    return text;
}
