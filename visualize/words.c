/* words.c: numbers as scenes write them; scenes by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualize/scene.h"

struct words number_words(double x)
{
    struct words w;
    if (isnan(x))
        snprintf(w.text, sizeof w.text, "NaN");
    else
        snprintf(w.text, sizeof w.text, "%.8g", x == 0 ? 0 : x);
    return w;
}

struct words drift_words(double ulps)
{
    struct words w = {"0"};
    double size = fabs(ulps);
    if (isnan(ulps))
        strcpy(w.text, "of another kind");
    else if (size > 0)
        snprintf(w.text, sizeof w.text,
                 size < 0.005     ? "%+.0e"
                 : size < 99.995  ? "%+.2f"
                 : size < 99999.5 ? "%+.0f"
                                  : "%+.0e",
                 ulps);
    return w;
}

double drift_in(enum format f, double value, const double exact[2])
{
    double smallest = ldexp(1.0, format_info(f)->emin);
    if (!isfinite(value) || !isfinite(exact[0]))
        return value == exact[0] || (isnan(value) && isnan(exact[0])) ? 0 : NAN;
    double size = fabs(exact[0]);
    return ((value - exact[0]) - exact[1]) / format_ulp(f, size > smallest ? size : smallest);
}

enum format format_holding(enum format f, double x)
{
    if (f != FORMAT_EXACT && (isnan(x) || format_round(f, x, false) == x))
        return f;
    return isnan(x) || format_round(FORMAT_FP32, x, false) == x ? FORMAT_FP32 : FORMAT_FP64;
}

const struct scene_info *scene_info(enum scene_id id)
{
    static const struct scene_info scenes[SCENE_COUNT] = {
#define SCENE(id, name, kind, problem, meaning) {name, &kind, problem, meaning},
#include "visualize/scenes.def"
#undef SCENE
    };
    return &scenes[id];
}

bool scene_from_name(const char *name, enum scene_id *id, struct message *why)
{
    char list[120] = "";
    for (int i = 0; i < SCENE_COUNT; i++) {
        const char *known = scene_info((enum scene_id)i)->name;
        if (strcmp(known, name) == 0) {
            *id = (enum scene_id)i;
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "", known);
    }
    return refuse(why, "--scene %.40s: one of %s is right", name, list);
}
