/* listing.c: see listing.h.  A step's line is the one that ends in note(r, STEP_X, array). */
#include "visualize/listing.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *file, *text;
} listings[] = {
#define LISTING(file, text) {file, text},
#include "listings.inc"
#undef LISTING
};
enum { LISTINGS = sizeof listings / sizeof listings[0] };

static const char *const step_ids[STEP_COUNT] = {
#define STEP(id, ...) #id,
#include "simulator/steps.def"
#undef STEP
};
static const struct {
    const char *name, *function;
} algorithms[] = {
#define ALGORITHM(id, name, title, function, ...) {name, #function},
#include "simulator/algorithms.def"
#undef ALGORITHM
};

/* What the listings call the arrays that a step can make. */
static const struct {
    enum tensor_name tensor;
    const char *variable;
} variables[] = {{TENSOR_S, ">S)"},           {TENSOR_P, ">P)"},
                 {TENSOR_M, ">m)"},           {TENSOR_M, ">m_new)"},
                 {TENSOR_DECAY, ">decay)"},   {TENSOR_L_SUM, ">l)"},
                 {TENSOR_L_TILE, ">l_tile)"}, {TENSOR_L_OLD, ">l_old)"},
                 {TENSOR_Y, ">Y)"},           {TENSOR_M_TILE, ">m_tile)"},
                 {TENSOR_O_ACC, ">O)"},       {TENSOR_O, ">O)"},
                 {TENSOR_LSE, ">L)"},         {TENSOR_GROUP_O, ">O)"},
                 {TENSOR_GROUP_LSE, ">L)"},   {TENSOR_GROUP_WEIGHT, "weight)"}};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static const char *line_start(const char *text, int n)
{
    for (; n > 1 && text != NULL; n--) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return text != NULL && *text != 0 ? text : NULL;
}

bool listing_line(const char *file, int n, char *text, size_t room)
{
    for (int i = 0; i < LISTINGS; i++) {
        if (strcmp(listings[i].file, file) != 0)
            continue;
        const char *line = n > 0 ? line_start(listings[i].text, n) : NULL;
        if (line == NULL)
            return false;
        snprintf(text, room, "%.*s", (int)strcspn(line, "\n"), line);
        return true;
    }
    return false;
}

const char *listing_file(const char *path)
{
    size_t length = strlen(path);
    for (int i = 0; i < LISTINGS; i++) {
        size_t own = strlen(listings[i].file);
        if (own <= length && strcmp(path + length - own, listings[i].file) == 0 &&
            (own == length || path[length - own - 1] == '/'))
            return listings[i].file;
    }
    return NULL;
}

const char *listing_note(const char *line)
{
    const char *note = strstr(line, "note(r,");
    return note != NULL ? note : strstr(line, "note_record(r,"); /* records.c's, for STEP_GROUP */
}

/* Does this line note the step's array (tensor -1: any array)? */
static bool notes(const char *line, size_t length, enum step step, int tensor)
{
    char copy[256], wanted[48];
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    snprintf(wanted, sizeof wanted, "STEP_%s,", step_ids[step]);
    const char *note = listing_note(copy), *at = note != NULL ? strstr(note, wanted) : NULL;
    if (note != NULL && step == STEP_GROUP && strncmp(note, "note_record", 11) == 0)
        at = note;
    if (at == NULL)
        return false;
    for (int i = 0; i < VARIABLES; i++)
        if ((int)variables[i].tensor == tensor && strstr(at, variables[i].variable) != NULL)
            return true;
    return tensor < 0;
}

static int line_in(const char *text, enum step step, int tensor)
{
    int n = 1;
    while (*text != 0) {
        size_t length = strcspn(text, "\n");
        if (notes(text, length, step, tensor))
            return n;
        text += length + (text[length] == '\n');
        n++;
    }
    return 0;
}

/* The listing that defines the function. */
static int listing_with(const char *function)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "void %s(struct run", function);
    for (int i = 0; i < LISTINGS; i++)
        if (strstr(listings[i].text, wanted) != NULL)
            return i;
    return -1;
}

/* What stands before the line's note. */
static bool has_code(const char *file, int n)
{
    char line[256];
    if (!listing_line(file, n, line, sizeof line))
        return false;
    const char *note = listing_note(line);
    if (note != NULL)
        line[note - line] = 0;
    return line[strspn(line, " {}")] != 0;
}

static bool has_note(const char *file, int n)
{
    char line[256];
    return listing_line(file, n, line, sizeof line) && listing_note(line) != NULL;
}

/* Notes may follow one another: the code of all of them stands before the first. */
static struct listing_place code_before(const char *file, int line)
{
    struct listing_place p = {file, line, line};
    while (p.last > 1 && !has_code(file, p.last))
        p.last--;
    p.first = p.last;
    while (p.first > 1 && has_code(file, p.first - 1) && !has_note(file, p.first - 1) &&
           p.last - p.first < 5)
        p.first--;
    return p;
}

struct listing_place listing_of(const char *algorithm, enum step step, enum tensor_name tensor)
{
    int order[3] = {-1, listing_with("scores"), listing_with("merge_records")};
    for (size_t a = 0; a < sizeof algorithms / sizeof algorithms[0]; a++)
        if (strcmp(algorithms[a].name, algorithm) == 0)
            order[0] = listing_with(algorithms[a].function);
    for (int i = 0; i < 3 && order[0] >= 0; i++)
        for (int any = 0; any < 2 && order[i] >= 0; any++) {
            int line = line_in(listings[order[i]].text, step, any ? -1 : (int)tensor);
            if (line > 0)
                return code_before(listings[order[i]].file, line);
        }
    return (struct listing_place){NULL, 0, 0};
}
