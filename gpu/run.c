/* run.c: `flashulp-gpu run`: one kernel on a problem; `list`: the kernels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

static void add_numbers(struct report *r, const struct gpu_pair *p, const struct gpu_output *o)
{
    enum { IN_TEXT = 8, IN_JSON = 64 };
    enum format f = p->input.input_format;
    const struct problem *x = &p->input.problem;
    struct json *list = json_list(r->json, "output"), *lse = json_list(r->json, "lse");
    for (int64_t i = 0; i < o->elements && i < IN_JSON; i++) {
        double value = format_decode(f, o->O[i]);
        int64_t row = i / x->D % x->Nq, head = i / x->D / x->Nq;
        json_real(list, NULL, value);
        if (i < IN_TEXT)
            report_text(r, " O[%lld,%lld,%lld,%lld]%*s%-22s 0x%04X\n", (long long)(head / x->Hq),
                        (long long)(head % x->Hq), (long long)row, (long long)(i % x->D), 4, "",
                        number_text(f, value).text, (unsigned)o->O[i]);
    }
    for (int64_t i = 0; i < o->rows && i < IN_JSON; i++)
        json_real(lse, NULL, format_decode(FORMAT_FP32, o->lse[i]));
}

static void add_shape(struct report *r, const struct problem *p)
{
    struct json *shape = json_list(r->json, "shape");
    json_whole(shape, NULL, p->B);
    json_whole(shape, NULL, p->Hq);
    json_whole(shape, NULL, p->Nq);
    json_whole(shape, NULL, p->D);
}

/* The pair's words, as a command; where this kernel's outputs go is no part of them. */
static char *pair_command(const struct gpu_pair *p)
{
    static const enum option files[] = {OPTION_OUT, OPTION_LSE, OPTION_DQ,
                                        OPTION_DK,  OPTION_DV,  OPTION_FORCE};
    struct scenario s = p->scenario;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        s.value[files[i]] = NULL;
        s.given[files[i]] = false;
    }
    return scenario_command(&s);
}

/* Runs the pair; true when every bit agrees. */
static bool add_pair(struct report *r, const struct gpu_pair *p, const struct target_settings *t,
                     const struct gpu_output *got, bool *equal, struct message *why)
{
    struct gpu_output want;
    if (!gpu_run_pair(p, t, &want, why))
        return false;
    struct gpu_difference d = gpu_compare(p, got, &want);
    *equal = d.count == 0;
    if (*equal)
        report_text(r, "pair       every bit agrees%s\n",
                    gpu_order_unknown(p) ? ", dQ's left out: a GPU adds in its own order" : "");
    else
        report_text(r, "pair       %lld numbers differ: %s\n", (long long)d.count, d.first);
    json_truth(r->json, "equal", *equal);
    json_whole(r->json, "differ", d.count);
    json_real(r->json, "pair_seconds", want.seconds);
    gpu_output_free(&want);
    return true;
}

/* --out, --lse, --dq, --dk, --dv: the words as they are. */
static bool write_outputs(const struct gpu_pair *p, const struct gpu_output *o, struct message *why)
{
    const struct problem *x = &p->input.problem;
    const struct scenario *s = &p->scenario;
    enum format f = p->input.input_format;
    const struct {
        enum option option;
        const void *words;
        enum format format;
        int64_t heads, rows;
    } files[] = {{OPTION_OUT, o->O, f, x->Hq, x->Nq},
                 {OPTION_LSE, o->lse, FORMAT_FP32, x->Hq, x->Nq},
                 {OPTION_DQ, o->dQ, f, x->Hq, x->Nq},
                 {OPTION_DK, o->dK, f, x->Hkv, x->Nk},
                 {OPTION_DV, o->dV, f, x->Hkv, x->Nk}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct tensor t;
        int rank = files[i].option == OPTION_LSE ? 3 : 4;
        const char *path = s->value[files[i].option];
        if (path == NULL)
            continue;
        if (files[i].words == NULL)
            return refuse(why, "%s: this kernel has no gradients; --kernel fa2-bwd has",
                          option_info(files[i].option)->name);
        if (!tensor_new(&t, files[i].format, rank,
                        (int64_t[]){x->B, files[i].heads, files[i].rows, x->D}, why))
            return false;
        size_t each = files[i].format == FORMAT_FP32 ? sizeof(uint32_t) : sizeof(uint16_t);
        memcpy(t.data, files[i].words, (size_t)tensor_elements(&t) * each);
        bool ok = tensor_write_npy(path, &t, s->given[OPTION_FORCE], why);
        tensor_free(&t);
        if (!ok)
            return false;
    }
    return true;
}

/* What ran on what, and how; atomic adds in another order than the pair's words have. */
static void add_header(struct report *r, const struct gpu_words *w, const struct gpu_pair *p)
{
    const struct problem *x = &p->input.problem;
    enum schedule s = w->target.schedule;
    bool reordered = s == SCHEDULE_LATE || s == SCHEDULE_RANDOM || !target_is_emulator();
    report_text(r, "%s   q %lld,%lld,%lld,%lld   k v %lld,%lld,%lld,%lld   %s\n", p->input.name,
                (long long)x->B, (long long)x->Hq, (long long)x->Nq, (long long)x->D,
                (long long)x->B, (long long)x->Hkv, (long long)x->Nk, (long long)x->D,
                format_info(p->input.input_format)->name);
    report_text(r, "%s on %s, sums %s\n", gpu_kernel_info(w->kernel)->name, target_name(),
                w->unit != NULL ? w->unit : "in fp32 chains");
    if (gpu_kernel_info(w->kernel)->flags & GPU_ATOMIC && reordered)
        report_text(r, "dQ is added up in the order of blocks of %s,\n"
                       "%sthe words below are for ascending ones\n",
                    target_is_emulator() ? "this schedule" : "this GPU",
                    target_is_emulator() && w->pair ? "by the pair too; " : "");
    if (w->target.hw)
        report_text(r, "%s\n", gpu_exp_meaning(true));
    if (p->planted != NULL)
        report_text(r, "NaN and infinities are planted in %s, which the words below leave out\n",
                    p->planted);
}

static bool run(const struct gpu_words *w, struct report *r, bool *equal, struct message *why)
{
    struct gpu_pair p;
    struct gpu_output o;
    char digest[24];
    if (!gpu_pair_new(&p, w->kernel, w->unit, w->count, w->rest, why))
        return false;
    memset(&o, 0, sizeof o);
    bool ok = gpu_fits(w->kernel, p.input.problem.D, p.input.input_format == FORMAT_FP16, why) &&
              gpu_run_kernel(&p, &w->target, &o, why);
    if (ok) {
        char *command = pair_command(&p);
        snprintf(digest, sizeof digest, "%016" PRIx64, gpu_digest(&p, &o));
        add_header(r, w, &p);
        json_string(r->json, "exp", gpu_exp_word(w->target.hw));
        json_string(r->json, "kernel", gpu_kernel_info(w->kernel)->name);
        gpu_add_target(r->json);
        json_string(r->json, "pair", command);
        json_string(r->json, "digest", digest);
        json_real(r->json, "seconds", o.seconds);
        add_shape(r, &p.input.problem);
        add_numbers(r, &p, &o);
        report_text(r, "digest %s   %.3f s\n%s", digest, o.seconds,
                    w->target.hw ? "no pair; with --exp poly it is\n           " : "its pair   ");
        text_wrapped(&r->text, 11, 11, command);
        free(command);
        ok = write_outputs(&p, &o, why) &&
             (!w->pair || add_pair(r, &p, &w->target, &o, equal, why));
    }
    gpu_output_free(&o);
    gpu_pair_free(&p);
    return ok;
}

int verb_run(int argc, char **argv)
{
    struct gpu_words w;
    struct message why;
    struct scenario none = {.verb = "gpu"};
    struct report r;
    bool equal = true;
    if (!gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("run", &why);
    report_new(&r, &none);
    bool ok = run(&w, &r, &equal, &why);
    if (ok && w.json) {
        gpu_print_json(&r);
    } else if (ok) {
        fputs(r.text, stdout);
    }
    report_free(&r);
    return ok ? !equal : gpu_refused("run", &why);
}

int verb_list(int argc, char **argv)
{
    struct message why;
    if (argc > 0) {
        refuse(&why, "\"%.40s\": it takes no words", argv[0]);
        return gpu_refused("list", &why);
    }
    printf("Our CUDA kernels, in gpu/kernels/.  Pair: the words that give the same bits\n"
           "when a run of the simulator takes them (KEYS is 64, or 32 at head size 256).\n");
    for (int k = 0; k < GPU_KERNELS; k++) {
        const struct gpu_kernel_info *info = gpu_kernel_info((enum gpu_kernel)k);
        char *text = NULL;
        text_append(&text, "\n%s  ", info->name);
        text_wrapped(&text, (int)strlen(info->name) + 2, 4, info->meaning);
        text_append(&text, "    files  %s\n    pair   ", info->files);
        text_wrapped(&text, 11, 11, info->pair);
        fputs(text, stdout);
        free(text);
    }
    return 0;
}
