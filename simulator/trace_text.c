/* trace_text.c: a trace for the eye (one line per event) and for Perfetto (Chrome trace JSON).

   Text from a file may hold any byte: the dump prints '?' for what a terminal should not get, JSON
   escapes it and replaces what is not UTF-8. */
#include "simulator/trace_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/tensor.h"

/* Which coordinates differ between events: the others need no column. */
struct varying {
    bool batch, head, split, i, j;
    int width; /* of the longest "b0 h1 i2 j3" */
    int shape_width;
};

static void add_coordinate(char *text, size_t room, bool varies, char letter, uint32_t value)
{
    size_t used = strlen(text);
    if (varies)
        snprintf(text + used, room - used, "%s%c%" PRIu32, used > 0 ? " " : "", letter, value);
}

struct place {
    char text[72]; /* five letters, each with up to ten digits */
};

static struct place place(const struct varying *v, const struct event *e)
{
    struct place p = {""};
    add_coordinate(p.text, sizeof p.text, v->batch, 'b', e->batch);
    add_coordinate(p.text, sizeof p.text, v->head, 'h', e->head);
    add_coordinate(p.text, sizeof p.text, v->split, 's', e->split);
    add_coordinate(p.text, sizeof p.text, v->i, 'i', e->i);
    add_coordinate(p.text, sizeof p.text, v->j, 'j', e->j);
    return p;
}

static struct varying what_varies(const struct trace *t)
{
    struct varying v = {0};
    const struct event *first = t->count > 0 ? trace_event(t, 0) : NULL;
    for (size_t n = 1; n < t->count; n++) {
        const struct event *e = trace_event(t, n);
        v.batch |= e->batch != first->batch;
        v.head |= e->head != first->head;
        v.split |= e->split != first->split;
        v.i |= e->i != first->i;
        v.j |= e->j != first->j;
    }
    v.shape_width = (int)strlen("shape");
    for (size_t n = 0; n < t->count; n++) {
        const struct event *e = trace_event(t, n);
        int width = (int)strlen(place(&v, e).text);
        int shape = snprintf(NULL, 0, "%" PRIu32 "x%" PRIu32, e->rows, e->cols);
        v.width = width > v.width ? width : v.width;
        v.shape_width = shape > v.shape_width ? shape : v.shape_width;
    }
    return v;
}

static void print_text(FILE *out, const char *text, int width)
{
    for (; *text != '\0'; text++, width--)
        fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, out);
    fprintf(out, "%*s", width > 0 ? width : 0, "");
}

static const char *drift_text(char text[32], double ulps)
{
    if (isnan(ulps))
        return "nan";
    snprintf(text, 32, ulps == 0 ? "0" : fabs(ulps) < 1e-3 ? "%+.0e" : "%+.3g", ulps);
    return text;
}

static void dump_event(const struct trace *t, size_t n, const struct varying *v, FILE *out)
{
    const struct event *e = trace_event(t, n);
    char shape[24], max_abs[32] = "-", local[32], inherited[32];
    fprintf(out, "%4zu ", n);
    print_text(out, trace_name(t, TRACE_STEPS, e->step), 11);
    fputc(' ', out);
    print_text(out, trace_name(t, TRACE_TENSORS, e->tensor), 3);
    snprintf(shape, sizeof shape, "%" PRIu32 "x%" PRIu32, e->rows, e->cols);
    if (t->detail != TRACE_EVENTS)
        snprintf(max_abs, sizeof max_abs, isnan(e->max_abs) ? "nan" : "%.6g", e->max_abs);
    bool twin = (e->flags & EVENT_HAS_TWIN) != 0;
    fprintf(out, "%s%-*s %*s %12s %9s %9s%s%s\n", v->width > 0 ? " " : "", v->width,
            place(v, e).text, v->shape_width, shape, max_abs,
            twin ? drift_text(local, e->local) : "-",
            twin ? drift_text(inherited, e->inherited) : "-",
            e->flags & EVENT_UNCHANGED ? " =" : "", e->flags & EVENT_DIFFERENT_KIND ? " !" : "");
}

void trace_dump(const struct trace *t, FILE *out)
{
    struct varying v = what_varies(t);
    for (size_t i = 0; i < t->meta_count; i += 2) {
        fputs("# ", out);
        print_text(out, t->meta[i], 0);
        fputs(" = ", out);
        print_text(out, t->meta[i + 1], 0);
        fputc('\n', out);
    }
    fprintf(out, "#  n step        arr%s%-*s %*s %12s %9s %9s\n", v.width > 0 ? " " : "", v.width,
            "", v.shape_width, "shape", "max |x|", "local", "inherited");
    for (size_t n = 0; n < t->count; n++)
        dump_event(t, n, &v, out);
}

/* One lane of the picture.  Ordered by batch, head, split, block. */
struct track {
    uint32_t key[4];
    int process;   /* number of (batch, head), from 1 */
    uint64_t next; /* when the slice after the current one begins */
    bool used;
};

struct tracks {
    struct track *track;
    size_t count;
};

static struct track track_of(const struct event *e)
{
    struct track t = {{e->batch, e->head, e->split, e->block}, 0, 0, false};
    return t;
}

static int compare_tracks(const void *a, const void *b)
{
    const uint32_t *x = ((const struct track *)a)->key, *y = ((const struct track *)b)->key;
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool find_tracks(const struct trace *t, struct tracks *tracks)
{
    tracks->count = 0;
    tracks->track = trace_allocate(t->count, sizeof *tracks->track);
    if (tracks->track == NULL)
        return false;
    for (size_t n = 0; n < t->count; n++)
        tracks->track[n] = track_of(trace_event(t, n));
    qsort(tracks->track, t->count, sizeof *tracks->track, compare_tracks);
    for (size_t n = 0; n < t->count; n++) {
        struct track *last = tracks->count > 0 ? &tracks->track[tracks->count - 1] : NULL;
        struct track next = tracks->track[n];
        if (last != NULL && compare_tracks(last, &next) == 0)
            continue;
        bool same = last != NULL && memcmp(last->key, next.key, 2 * sizeof next.key[0]) == 0;
        next.process = last == NULL ? 1 : last->process + !same;
        tracks->track[tracks->count++] = next;
    }
    return true;
}

static void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (int length; *text != '\0'; text += length > 0 ? length : 1) {
        length = utf8_length(text);
        if (length == 0)
            fputs("\\ufffd", out);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fprintf(out, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", length, text);
    }
    fputc('"', out);
}

static void json_number(FILE *out, const char *key, double x)
{
    if (isfinite(x))
        fprintf(out, ",\"%s\":%.17g", key, x);
    else
        fprintf(out, ",\"%s\":\"%s\"", key, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

static void write_names(FILE *out, const struct tracks *tracks)
{
    for (size_t k = 0; k < tracks->count; k++) {
        const struct track *track = &tracks->track[k];
        if (k == 0 || track[-1].process != track->process)
            fprintf(out,
                    "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\","
                    "\"args\":{\"name\":\"batch %" PRIu32 " head %" PRIu32 "\"}},\n",
                    track->process, track->key[0], track->key[1]);
        fprintf(out,
                "{\"ph\":\"M\",\"pid\":%d,\"tid\":%zu,\"name\":\"thread_name\","
                "\"args\":{\"name\":\"split %" PRIu32 " block %" PRIu32 "\"}},\n",
                track->process, k + 1, track->key[2], track->key[3]);
    }
}

static void write_slice(FILE *out, const struct trace *t, size_t n, const struct tracks *tracks,
                        bool timed)
{
    const struct event *e = trace_event(t, n);
    struct track key = track_of(e);
    struct track *track = bsearch(&key, tracks->track, tracks->count, sizeof key, compare_tracks);
    uint64_t start = timed ? e->time : n, duration = 1;
    if (timed && track->used)
        duration = track->next > start ? track->next - start : 0;
    track->used = true;
    track->next = start;
    fprintf(out,
            "{\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":",
            track->process, (size_t)(track - tracks->track) + 1, start, duration);
    json_text(out, trace_name(t, TRACE_STEPS, e->step));
    fputs(",\"args\":{\"tensor\":", out);
    json_text(out, trace_name(t, TRACE_TENSORS, e->tensor));
    fprintf(out, ",\"event\":%zu,\"i\":%" PRIu32 ",\"j\":%" PRIu32, n, e->i, e->j);
    if (e->flags & EVENT_HAS_TWIN) {
        json_number(out, "local", e->local);
        json_number(out, "inherited", e->inherited);
    }
    if (t->detail != TRACE_EVENTS)
        json_number(out, "max_abs", e->max_abs);
    fprintf(out, "}}%s\n", n > 0 ? "," : "");
}

static void write_json(FILE *out, const struct trace *t, const struct tracks *tracks)
{
    bool timed = false;
    for (size_t n = 0; n < t->count; n++)
        timed |= trace_event(t, n)->time != 0;
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{", out);
    for (size_t i = 0; i < t->meta_count; i += 2) {
        fputs(i > 0 ? "," : "", out);
        json_text(out, t->meta[i]);
        fputc(':', out);
        json_text(out, t->meta[i + 1]);
    }
    fputs("},\n\"traceEvents\":[\n", out);
    write_names(out, tracks);
    for (size_t n = t->count; n-- > 0;) /* backwards: a slice ends where the track's next begins */
        write_slice(out, t, n, tracks, timed);
    fputs("]}\n", out);
}

bool trace_write_perfetto(const struct trace *t, const char *path, bool force, struct message *why)
{
    struct output_file file;
    struct tracks tracks;
    if (t->out_of_memory)
        return trace_refuse_incomplete(t, path, why);
    if (!find_tracks(t, &tracks))
        return refuse(why, "%s: not written: no memory for the tracks", path);
    bool ok = file_begin(&file, path, force, why);
    if (ok) {
        write_json(file.stream, t, &tracks);
        ok = file_commit(&file, why);
    }
    free(tracks.track);
    return ok;
}
