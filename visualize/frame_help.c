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
            {"Q", "leave"}};
enum { LINES = sizeof help / sizeof help[0] };

void frame_help(double width, double height, struct drawing *d)
{
    struct box b = {width / 2 - 310, height / 2 - 12.0 * LINES - 36, 620, 24.0 * LINES + 64};
    int before = d->count;
    draw_rect(d, b, INK_PANEL, INK_TEXT)->size = 2;
    draw_text(d, FACE_BOLD, 16, ALIGN_LEFT, INK_TEXT, b.x + 24, b.y + 34, "Keys");
    for (int n = 0; n < LINES; n++) {
        double y = b.y + 62 + 24 * n;
        draw_text(d, FACE_MONO, 13, ALIGN_LEFT, INK_TEXT, b.x + 24, y, "%s", help[n].keys);
        draw_text(d, FACE_SANS, 13, ALIGN_LEFT, INK_TEXT, b.x + 200, y, "%s", help[n].meaning);
    }
    for (int n = before; n < d->count; n++)
        d->shape[n].what = FRAME_HELP;
}
