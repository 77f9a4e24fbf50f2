/* course.c: see course.h. */
#include "lessons/course.h"

#include <stdio.h>
#include <stdlib.h>

#include "reference/sha256.h"
#include "reference/tensor.h"
#include "simulator/scenario_parts.h"

enum { LARGEST = 1 << 20 };

void course_defaults(struct course *c)
{
    *c = (struct course){.feedback = FEEDBACK_CAUSE, .show_hidden = true, .name = "course"};
    for (size_t i = 0; i < sizeof c->points / sizeof c->points[0]; i++)
        for (int p = 0; p < MAX_PROPERTIES; p++)
            c->points[i][p] = -1;
}

static int lab_place(const struct lab *lab)
{
    int place = 0;
    while (lab_at(place) != lab)
        place++;
    return place;
}

/* points.07 = 2,3,1 */
static bool read_points(struct course *c, const char *number, const char *text, struct message *why)
{
    const struct lab *lab = lab_from_name(number, why);
    int64_t *list, count;
    int have = 0;
    if (lab == NULL || !parse_list("points", text, &list, &count, why))
        return false;
    while (have < MAX_PROPERTIES && lab->properties[have].name != NULL)
        have++;
    bool ok = count == have;
    for (int i = 0; ok && i < have; i++) {
        ok = list[i] >= 0 && list[i] <= 100;
        c->points[lab_place(lab)][i] = (int)list[i];
    }
    free(list);
    return ok || refuse(why, "points.%s = %.60s: %d numbers from 0 to 100 are right", lab->number,
                        text, have);
}

static const struct limit_name {
    const char *name;
    double least, most;
} limit_names[] = {{"seconds", 0.1, 60}, {"memory", 16, 65536}, {"output", 1, 65536}};
enum { LIMIT_NAMES = sizeof limit_names / sizeof limit_names[0] };

/* seconds = 2 or seconds.07 = 2; likewise memory and output, which are whole. */
static bool read_limit(struct course *c, const struct limit_name *n, const char *number,
                       const char *text, struct message *why)
{
    char *end;
    double x = strtod(text, &end);
    struct allowance *to = &c->all;
    bool whole = n != limit_names;
    if (*number == '.') {
        const struct lab *lab = lab_from_name(number + 1, why);
        if (lab == NULL)
            return false;
        to = &c->own[lab_place(lab)];
    }
    if (end == text || *end != 0 || !(x >= n->least && x <= n->most) || (whole && x != floor(x)))
        return refuse(why, "%s%.8s = %.40s: a %snumber from %g to %g is right", n->name, number,
                      text, whole ? "whole " : "", n->least, n->most);
    if (!whole)
        to->seconds = x;
    else
        *(n == &limit_names[1] ? &to->memory : &to->output) = (int)x;
    return true;
}

/* "02 03 07" */
static bool read_labs(struct course *c, const char *text, struct message *why)
{
    char word[40];
    int n;
    for (const char *at = text; sscanf(at, " %39s%n", word, &n) == 1; at += n)
        if (lab_from_name(word, why) == NULL)
            return false;
    snprintf(c->labs, sizeof c->labs, "%s", text);
    return true;
}

static const struct limit_name *limit_named(const char *name)
{
    size_t length = strcspn(name, ".");
    for (int i = 0; i < LIMIT_NAMES; i++)
        if (strlen(limit_names[i].name) == length &&
            strncmp(limit_names[i].name, name, length) == 0)
            return &limit_names[i];
    return NULL;
}

static bool setting(struct course *c, const char *name, const char *value, struct message *why)
{
    static const char *const words[] = {"cause", "property", "none"};
    if (strcmp(name, "name") == 0) {
        snprintf(c->name, sizeof c->name, "%s", value);
    } else if (strcmp(name, "secret") == 0) {
        if (strlen(value) < 16)
            return refuse(why, "secret: at least 16 characters are right");
        if (strlen(value) >= sizeof c->secret)
            return refuse(why, "secret: at most %zu characters are right", sizeof c->secret - 1);
        snprintf(c->secret, sizeof c->secret, "%s", value);
        c->variants = true;
    } else if (strcmp(name, "labs") == 0) {
        return read_labs(c, value, why);
    } else if (strcmp(name, "hidden") == 0) {
        c->show_hidden = strcmp(value, "now") == 0;
        c->due = strcmp(value, "due") == 0;
        if (!c->show_hidden && !c->due && strcmp(value, "later") != 0)
            return refuse(why, "hidden = %.40s: later, due or now is right", value);
    } else if (strcmp(name, "feedback") == 0) {
        for (int i = 0; i < 3; i++)
            if (strcmp(value, words[i]) == 0) {
                c->feedback = (enum feedback)i;
                return true;
            }
        return refuse(why, "feedback = %.40s: cause, property or none is right", value);
    } else if (strcmp(name, "roster") == 0) {
        return true; /* make course reads it */
    } else if (strncmp(name, "points.", 7) == 0) {
        return read_points(c, name + 7, value, why);
    } else if (limit_named(name) != NULL) {
        return read_limit(c, limit_named(name), name + strcspn(name, "."), value, why);
    } else {
        return refuse(why, "no setting is called %.40s", name);
    }
    return true;
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]) != NULL)
        text[--n] = 0;
    return text;
}

bool course_read(const char *path, struct course *c, struct message *why)
{
    unsigned char *bytes;
    size_t size;
    int number = 0;
    bool ok = true;
    course_defaults(c);
    c->show_hidden = false;
    if (!file_read(path, LARGEST, &bytes, &size, why))
        return false;
    for (char *line = (char *)bytes, *next; ok && line != NULL; line = next) {
        struct message said;
        number++;
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = 0;
        line[strcspn(line, "#")] = 0;
        char *equals = strchr(line, '=');
        if (trimmed(line)[0] == 0)
            continue;
        if (equals == NULL) {
            ok = refuse(why, "%.200s:%d: NAME = VALUE is right", path, number);
            continue;
        }
        *equals = 0;
        ok = setting(c, trimmed(line), trimmed(equals + 1), &said) ||
             refuse(why, "%.200s:%d: %.300s", path, number, said.text);
    }
    free(bytes);
    return ok;
}

static void digest_of(struct sha256 *s, unsigned char digest[32])
{
    struct sha256_text text = sha256_end(s);
    for (int i = 0; i < 32; i++) {
        char pair[3] = {text.text[2 * i], text.text[2 * i + 1], 0};
        digest[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

void hmac_sha256(const char *key, const char *text, unsigned char digest[32])
{
    unsigned char block[64] = {0}, pad[64];
    struct sha256 s;
    if (strlen(key) > sizeof block) {
        sha256_start(&s);
        sha256_add(&s, key, strlen(key));
        digest_of(&s, block);
    } else {
        memcpy(block, key, strlen(key));
    }
    for (int i = 0; i < 64; i++)
        pad[i] = block[i] ^ 0x36;
    sha256_start(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, text, strlen(text));
    digest_of(&s, digest);
    for (int i = 0; i < 64; i++)
        pad[i] = block[i] ^ 0x5c;
    sha256_start(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, digest, 32);
    digest_of(&s, digest);
}

/* Nobody can know these numbers beforehand. */
static uint64_t unforeseen(void)
{
    uint64_t seed = 0;
    FILE *f = fopen("/dev/urandom", "rb");
    if (f == NULL || fread(&seed, sizeof seed, 1, f) != 1)
        seed = (uint64_t)(process_clock() * 1e9);
    if (f != NULL)
        fclose(f);
    return seed;
}

struct variant course_variant(const struct course *c, const struct lab *lab, const char *student)
{
    struct variant v = {.base = -1, .window = 2, .bits = 7, .shape = lab->shapes[0]};
    unsigned char digest[32];
    char text[160];
    if (!c->variants || student == NULL) {
        v.seed = unforeseen();
        return v;
    }
    snprintf(text, sizeof text, "%s/%.100s", lab->number, student);
    hmac_sha256(c->secret, text, digest);
    v.student = student;
    v.base = digest[0] & 1 ? 2 : 0;
    v.direction = digest[1] & 1 ? 1 : -1;
    v.window = (int[]){1, 3, 4, 5}[digest[2] % 4]; /* nobody's is no student's, */
    v.bits = (int[]){4, 5, 6, 8}[digest[3] % 4];   /* so that a public file fails */
    int shapes = 1;
    while (shapes < MAX_SHAPES && lab->shapes[shapes] != 0)
        shapes++;
    v.shape = shapes > 1 ? lab->shapes[1 + digest[4] % (shapes - 1)] : 0;
    memcpy(&v.seed, digest + 8, sizeof v.seed);
    return v;
}

struct lab course_lab(const struct course *c, const struct lab *lab)
{
    struct lab copy = *lab;
    int place = lab_place(lab);
    const struct allowance *all = &c->all, *own = &c->own[place];
    struct allowance *to = &copy.allowance;
    *to = lab_allowance();
    to->seconds = own->seconds > 0 ? own->seconds : all->seconds > 0 ? all->seconds : to->seconds;
    to->memory = own->memory > 0 ? own->memory : all->memory > 0 ? all->memory : to->memory;
    to->output = own->output > 0 ? own->output : all->output > 0 ? all->output : to->output;
    for (int i = 0; i < MAX_PROPERTIES; i++)
        if (c->points[place][i] >= 0)
            copy.properties[i].points = c->points[place][i];
    return copy;
}

static void append_shape(char **to, const char *before, const struct lab *lab,
                         const struct variant *v, const char *behind)
{
    text_append(to, "%s%s%d%s%s", before, lab->shape[0], v->shape, lab->shape[1], behind);
}

static void append_wishes(char **to, const struct lab *lab, const struct variant *v)
{
    if (v->student == NULL) {
        text_append(to, "Variant: %s", lab->knobs == 0 ? "none." : "any legal form.");
        if (lab->knobs & KNOB_WINDOW)
            text_append(to, "  The window is in s->left.");
        if (lab->knobs & KNOB_BITS)
            text_append(to, "  Round to 7 fraction bits (bf16).");
        if (lab->knobs & KNOB_SHAPE)
            append_shape(to, "  This copy has ", lab, v, ".");
        return;
    }
    text_append(to, "This copy is %s's and asks for:", v->student);
    if (lab->knobs & KNOB_DIRECTION)
        text_append(to, " key tiles from %s;",
                    v->direction > 0 ? "first to last" : "last to first");
    if (lab->knobs & KNOB_BASE)
        text_append(to, " %s in base %s;", lab->base_of != NULL ? lab->base_of : "L",
                    v->base != 2           ? "e"
                    : lab->base_of == NULL ? "2 (L = log2 of the sum)"
                                           : "2");
    if (lab->knobs & KNOB_SHAPE)
        append_shape(to, " ", lab, v, ";");
    if (lab->knobs & KNOB_BITS)
        text_append(to, " %d fraction bits;", v->bits);
    if (lab->knobs & KNOB_WINDOW)
        text_append(to, " windows of %d keys to the left;", v->window);
    if (lab->knobs == 0)
        text_append(to, " nothing but its own numbers;");
    (*to)[strlen(*to) - 1] = '.';
}

char *course_stub(const char *text, const struct lab *lab, const struct variant *v)
{
    static const char place[] = "$VARIANT$";
    const char *at = strstr(text, place);
    char *to = NULL;
    if (at == NULL) {
        text_append(&to, "%s", text);
        return to;
    }
    text_append(&to, "%.*s", (int)(at - text), text);
    append_wishes(&to, lab, v);
    text_append(&to, "%s", at + strlen(place));
    return to;
}

bool course_grade(const struct course *c, const struct lab *lab, const char *path,
                  const char *student, struct graded *x, struct message *why)
{
    double start = process_clock();
    *x = (struct graded){.lab = lab,
                         .file = path,
                         .feedback = c->feedback,
                         .show_hidden = c->show_hidden,
                         .due = c->due,
                         .variant = course_variant(c, lab, student)};
    if (!build_lab(lab, &x->variant, path, &x->built, why))
        return false;
    if (x->built.ok)
        grade_lab(lab, &x->built, &x->variant, &x->grading);
    built_remove(&x->built);
    x->seconds = process_clock() - start;
    return true;
}
