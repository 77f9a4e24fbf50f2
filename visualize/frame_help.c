/* frame_help.c: all keys, as a card over the picture. */
#include "visualize/frame_parts.h"

static const struct {
    const char *keys, *meaning;
} help[] = {{"Space", "play, pause"},
            {"Right, Left", "one step on, back; the step is shown happening"},
            {"Page Down, Page Up", "ten steps on, back"},
            {"Home, End", "the beginning, the end"},
            {"R, Shift R", "next rescale (of lanes: bank conflict), the one before"},
            {"D", "first divergence: runs part, a run leaves the exact one; a race"},
            {"N, Shift N", "next tile, group or barrier, the one before"},
            {"+, -", "twice as fast, half as fast"},
            {"Up, Down", "choose a parameter"},
            {"[, ]", "change it"},
            {"wheel; Z, Shift Z", "zoom in, out, at the pointer; in the middle"},
            {"drag; Shift arrows", "move the stage"},
            {"F", "fit the stage"},
            {"click; K, Shift K", "keep a number through time; the next number, the one before"},
            {"Escape", "let go of it; close this"},
            {"C", "copy the command that gives this view"},
            {"P", "write this view as a PNG file"},
            {"T", "light, dark, projector"},
            {"Tab, Shift Tab", "next scene, the one before"},
            {"?, H, F1", "these keys"},
            {"Q", "leave"}};
enum { LINES = sizeof help / sizeof help[0] };

void frame_help(double width, double height, bool large, struct drawing *d)
{
    double line = large ? 15.5 : 24, size = large ? 11 : 13, meaning = large ? 138 : 200;
    double tall = line * LINES + (large ? 30 : 64), wide = large ? width - 16 : 620;
    struct box b = {(width - wide) / 2, (height - tall) / 2, wide, tall};
    double left = b.x + (large ? 10 : 24), top = b.y + (large ? 18 : 34);
    int before = d->count;
    draw_rect(d, b, INK_PANEL, INK_TEXT)->size = 2;
    draw_text(d, FACE_BOLD, large ? 13 : 16, ALIGN_LEFT, INK_TEXT, left, top, "Keys");
    for (int n = 0; n < LINES; n++) {
        double y = top + (large ? 17 : 28) + line * n;
        draw_text(d, FACE_MONO, size, ALIGN_LEFT, INK_TEXT, left, y, "%s", help[n].keys);
        draw_text(d, FACE_SANS, size, ALIGN_LEFT, INK_TEXT, left + meaning - (large ? 0 : 24), y,
                  "%s", help[n].meaning);
    }
    for (int n = before; n < d->count; n++)
        d->shape[n].what = FRAME_HELP;
}
