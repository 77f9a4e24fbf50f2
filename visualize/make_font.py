#!/usr/bin/env python3
"""Writes font_data.def: the outlines of printable ASCII in three faces of DejaVu.

usage: make_font.py FOLDER-OF-TTF > font_data.def        (needs fonttools)
Coordinates are rounded to em/512.  Quadratic curves as TrueType has them: a point off the curve
controls the curve between its neighbours, two of them have an implied point halfway."""
import sys
from fontTools.ttLib import TTFont

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"


def two(n):
    return DIGITS[n >> 6] + DIGITS[n & 63]


def outline(font, char):
    points, ends, flags = font["glyf"][font.getBestCmap()[ord(char)]].getCoordinates(font["glyf"])
    unit = 512 / font["head"].unitsPerEm
    text, first = "", 0
    for end in ends:
        for n in range(first, end + 1):
            x, y = round(points[n][0] * unit), round(points[n][1] * unit)
            text += two(x + 512 + 2048 * (flags[n] & 1)) + two(y + 512)
        text += " "
        first = end + 1
    return text.rstrip()


def height(font, char):
    return round(font["glyf"][font.getBestCmap()[ord(char)]].yMax * 512 / font["head"].unitsPerEm)


print("/* font_data.def: made by make_font.py from DejaVu 2.37; LICENSE-dejavu goes with it.")
print("   FACE(id, height of x, height of H); GLYPH(face, character, advance, outline), units em/512;")
print("   a point: 2 digits of 64 for x + 512 (+ 2048: on the curve), 2 for y + 512. */")
for face, name in (("SANS", "DejaVuSans"), ("BOLD", "DejaVuSans-Bold"), ("MONO", "DejaVuSansMono")):
    font = TTFont(f"{sys.argv[1]}/{name}.ttf")
    print("#ifdef FACE\nFACE(%s, %d, %d)\n#endif\n#ifdef GLYPH" % (face, height(font, "x"), height(font, "H")))
    for code in range(32, 127):
        advance = round(font["hmtx"][font.getBestCmap()[code]][0] * 512 / font["head"].unitsPerEm)
        text = outline(font, chr(code)) if code > 32 else ""
        lines = [text[i : i + 90] for i in range(0, len(text), 90)] or [""]
        if len(lines) == 1 and len(text) < 70:
            print('GLYPH(%s, %d, %d, "%s")' % (face, code, advance, text))
        else:
            print("GLYPH(%s, %d, %d,\n%s)" % (face, code, advance, "\n".join('"%s"' % l for l in lines)))
    print("#endif")
