/* draw_text.c: a drawing as lines of text, and what is wrong with its texts. */
#include "visualize/draw.h"

#include <stdlib.h>
#include <string.h>

static const char *const hatches[HATCH_COUNT] = {"", " rising", " falling", " cross", " dots"};
static const char *const marks[MARK_COUNT] = {"circle", "square", "triangle", "diamond", "down"};
static const char *const faces[FACE_COUNT] = {
#define FACE(id, ...) #id,
#include "visualize/font_data.def"
#undef FACE
};
static const char *const aligns[] = {"left", "centre", "right"};

static void print_shape(const struct drawing *d, const struct shape *s, FILE *out)
{
    switch (s->kind) {
    case SHAPE_RECT:
        fprintf(out, "rect %.1f %.1f %.1f %.1f %s %s%s", s->x, s->y, s->w, s->h, ink_name(s->fill),
                ink_name(s->line), hatches[s->hatch]);
        break;
    case SHAPE_LINE:
        fprintf(out, "line %.1f %.1f %.1f %.1f %s %.1f", s->x, s->y, s->x + s->w, s->y + s->h,
                ink_name(s->line), s->size);
        break;
    case SHAPE_MARK:
        fprintf(out, "mark %s %.1f %.1f %.1f %s", marks[s->mark], s->x, s->y, s->w,
                ink_name(s->fill));
        break;
    case SHAPE_TEXT:
        fprintf(out, "text %s %.1f %s %s %.1f %.1f \"%s\"", faces[s->face], s->size,
                aligns[s->align], ink_name(s->fill), s->x, s->y, drawing_text(d, s));
        break;
    case SHAPE_HEAT:
        fprintf(out, "heat %.1f %.1f %.1f %.1f %dx%d", s->x, s->y, s->w, s->h, s->cols, s->rows);
        break;
    }
    fputs(s->zoomed ? " zoomed\n" : "\n", out);
}

void drawing_print(const struct drawing *d, FILE *out)
{
    fprintf(out, "drawing %.0f %.0f\n", d->width, d->height);
    for (int n = 0; n < d->count; n++)
        print_shape(d, &d->shape[n], out);
}

/* Letters fill a line's box from the top of capitals to the base line, tails aside. */
static struct box inner(const struct drawing *d, const struct shape *s)
{
    struct box b = drawing_box(d, s);
    return (struct box){b.x, s->y - font_cap_height(s->face) * s->size, b.w,
                        font_cap_height(s->face) * s->size};
}

static bool meet(struct box a, struct box b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static bool outside(const struct drawing *d, const struct shape *s)
{
    struct box b = drawing_box(d, s);
    return b.x < 0 || b.y < 0 || b.x + b.w > d->width || b.y + b.h > d->height;
}

static bool blank(const char *text)
{
    return text[strspn(text, " ")] == 0;
}

bool drawing_fault(const struct drawing *d, struct message *which)
{
    struct box *seen = malloc(((size_t)d->count + 1) * sizeof *seen);
    const char **said = malloc(((size_t)d->count + 1) * sizeof *said);
    bool fault = false;
    int count = 0;
    if (seen == NULL || said == NULL)
        abort();
    for (int n = 0; n < d->count && !fault; n++) {
        const struct shape *s = &d->shape[n];
        if (s->kind != SHAPE_TEXT || blank(drawing_text(d, s)))
            continue;
        said[count] = drawing_text(d, s);
        seen[count] = inner(d, s);
        fault = outside(d, s);
        if (fault)
            refuse(which, "\"%.60s\" at %.0f, %.0f leaves the picture", said[count], s->x, s->y);
        for (int m = 0; m < count && !fault; m++)
            if (meet(seen[count], seen[m])) {
                fault = true;
                refuse(which, "\"%.60s\" at %.0f, %.0f meets \"%.60s\"", said[count], s->x, s->y,
                       said[m]);
            }
        count++;
    }
    free(seen);
    free(said);
    return fault;
}
