/* scene_decode_words.c: what the decode scene says: marks, steps in words, the description, what is
   under the pointer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/listing.h"
#include "visualize/scene_decode.h"

unsigned decode_marks(const struct scene *scene, int moment)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    bool differ = false;
    for (int n = 1; n < s->lanes; n++) {
        const struct decode_lane *a = &s->lane[0], *b = &s->lane[n];
        if (moment == 0)
            differ = differ || a->groups == 0 || b->groups == 0 || a->group[0].O != b->group[0].O;
    }
    return (moment == v->most_groups ? MOMENT_CHAPTER : 0u) | (differ ? MOMENT_PARTED : 0u) |
           (moment == v->most_groups + 1 ? MOMENT_ROUNDED | MOMENT_CHAPTER : 0u);
}

static const char *merge_equation(enum merge merge)
{
#define MERGE_LINE(merge_id, tensor_id, text)                                                      \
    if (merge == MERGE_##merge_id &&                                                               \
        (TENSOR_##tensor_id == TENSOR_O || TENSOR_##tensor_id == TENSOR_O_ACC))                    \
        return text;
#include "simulator/decode.def"
#undef MERGE_LINE
    return "";
}

static enum merge merge_of(const struct decode_view *v)
{
    struct decode_form f;
    struct message why;
    return decode_form_read(&f, v->switches, &why) ? f.merge : MERGE_LSE;
}

static void add_numbers(const struct decode_view *v, int moment, char *text, size_t room)
{
    const struct decode_story *s = &v->story;
    text[0] = 0;
    for (int n = 0; n < s->lanes; n++) {
        const struct decode_lane *l = &s->lane[n];
        double x = moment < v->most_groups    ? moment < l->groups ? l->group[moment].O : NAN
                   : moment == v->most_groups ? l->before
                                              : l->stored;
        size_t at = strlen(text);
        if (!isnan(x))
            snprintf(text + at, room - at, "%s%c: %s", at > 0 ? "\n" : "", run_style(n).letter,
                     number_words(x).text);
    }
}

static void add_source(enum step step, enum tensor_name tensor, struct moment_words *w)
{
    struct listing_place p = listing_of("decode", step, tensor);
    w->source[0] = (struct source_line){p.last > 0 ? '*' : 0, p.file, p.first, p.last};
}

void decode_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct decode_view *v = scene->story;
    memset(w, 0, sizeof *w);
    add_numbers(v, moment, w->numbers, sizeof w->numbers);
    if (moment < v->most_groups) {
        bool divided = merge_of(v) == MERGE_LSE || merge_of(v) == MERGE_LSE_SUM ||
                       merge_of(v) == MERGE_NORMALISED_MAX_SUM;
        snprintf(w->step, sizeof w->step, "GROUP");
        snprintf(w->where, sizeof w->where, "group %d of each GPU", moment + 1);
        snprintf(w->equation, sizeof w->equation, "%s",
                 divided ? "O_g = O~ / l, L_g = m + ln l" : "O~_g, m_g, l_g");
        snprintf(w->meaning, sizeof w->meaning,
                 "Each GPU's group %d has gone through its own tokens, with a maximum of its own, "
                 "and leaves a record: output and logarithm (or maximum and sum).",
                 moment + 1);
        add_source(STEP_GROUP, TENSOR_GROUP_O, w);
    } else if (moment == v->most_groups) {
        snprintf(w->step, sizeof w->step, "COMBINE");
        snprintf(w->where, sizeof w->where, "groups 1 to last, in order");
        snprintf(w->equation, sizeof w->equation, "%s", merge_equation(merge_of(v)));
        snprintf(w->meaning, sizeof w->meaning,
                 "The records are put together in ascending order: the values before the last "
                 "rounding, on the number line.");
        add_source(STEP_COMBINE, TENSOR_O_ACC, w);
    } else {
        snprintf(w->step, sizeof w->step, "STORE");
        snprintf(w->where, sizeof w->where, "the last rounding");
        snprintf(w->equation, sizeof w->equation, "O -> %s", format_info(v->story.out)->name);
        snprintf(w->meaning, sizeof w->meaning,
                 "Left of a rounding boundary one number is stored, right of it the next: values "
                 "that differ little may be stored an ulp apart.");
        add_source(STEP_STORE, TENSOR_O, w);
    }
}

void decode_describe(const struct scene *scene, double time, char **text)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    int done = (int)floor(time);
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int n = 0; n < s->lanes; n++) {
        const struct decode_lane *l = &s->lane[n];
        int groups = done < l->groups ? done : l->groups;
        text_append(text, "%c %s, %d SMs: %d groups", run_style(n).letter, l->name, l->sms,
                    l->groups);
        if (l->planned && l->plan.order == GROUPS_ROUND_ROBIN)
            text_append(text, ", tiles of %s tokens dealt round",
                        grouped(l->plan.block_tokens).text);
        else if (l->planned)
            text_append(text, " of %s tokens",
                        grouped(l->plan.blocks_per_split * l->plan.block_tokens).text);
        text_append(text, "; %d done", groups);
        if (groups > 0)
            text_append(text, ", the last left O_g = %s",
                        number_words(l->group[groups - 1].O).text);
        if (done > v->most_groups)
            text_append(text, "; before the last rounding %s", number_words(l->before).text);
        if (done > v->most_groups + 1)
            text_append(text, ", stored %s (%s ulp)", number_words(l->stored).text,
                        drift_words(drift_in(s->out, l->stored, s->exact)).text);
        text_append(text, "\n");
    }
    for (int n = 0; v->ahead.is && n < s->lanes; n++) {
        const struct decode_lane *l = decode_strip(v, n);
        text_append(text, "%c being recomputed for %d SMs, %d groups\n", run_style(n).letter,
                    l->sms, l->groups);
    }
    text_append(text, "E exact %s, its %s rounding %s\n", s->digits, format_info(s->out)->name,
                number_words(s->correct).text);
}

bool decode_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    int n = what & 7;
    memset(i, 0, sizeof *i);
    if (what & WHAT_EXACT) {
        snprintf(i->name, sizeof i->name, "the exact result, certified");
        i->value = s->exact[0];
    } else {
        if (n >= s->lanes)
            return false;
        const struct decode_lane *l = &s->lane[n];
        int g = what >> 3 & 0xFFFF;
        bool before = what & WHAT_BEFORE, stored = what & WHAT_STORED;
        if (before || stored ? time <= v->most_groups + stored : time <= g || g >= l->groups)
            return false;
        i->value = before ? l->before : stored ? l->stored : l->group[g].O;
        if (before || stored)
            snprintf(i->name, sizeof i->name, "%c %.40s, %s", run_style(n).letter, l->name,
                     before ? "before the last rounding" : "stored");
        else
            snprintf(i->name, sizeof i->name, "%c %.40s, O of group %d", run_style(n).letter,
                     l->name, g + 1);
        i->has_exact = before || stored;
        memcpy(i->exact, s->exact, sizeof i->exact);
    }
    i->ulps = s->out;
    i->format = format_holding(what & WHAT_STORED ? s->out : FORMAT_FP32, i->value);
    return true;
}
