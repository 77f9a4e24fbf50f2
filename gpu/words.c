/* words.c: the options of flashulp-gpu. */
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "simulator/mma.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

static const char *const schedules[SCHEDULES] = {"plain", "late", "random", "detector"};

const char *schedule_name(enum schedule s)
{
    return schedules[s];
}

static bool read_schedule(const char *word, enum schedule *s, struct message *why)
{
    for (int i = 0; i < SCHEDULES; i++)
        if (strcmp(word, schedules[i]) == 0) {
            *s = (enum schedule)i;
            return true;
        }
    return refuse(why, "--schedule %.40s: plain, late, random or detector is right", word);
}

/* fp32, or a tensor core: A100 and H100 for short. */
static bool read_unit(const char *word, const char **unit, struct message *why)
{
    if (strcmp(word, "fp32") == 0) {
        *unit = NULL;
        return true;
    }
    if (strcmp(word, "A100") == 0)
        word = "sm80";
    if (strcmp(word, "H100") == 0)
        word = "sm90";
    for (int u = 0; u < MMA_UNITS; u++)
        if (strcmp(word, mma_unit_name((enum mma_unit)u)) == 0) {
            *unit = mma_unit_name((enum mma_unit)u);
            return true;
        }
    return refuse(why,
                  "--accumulate %.40s: fp32, A100, H100 or a unit of flashulp list units, such as "
                  "sm80, is right",
                  word);
}

const char *gpu_exp_word(bool hw)
{
    return !hw ? "poly" : target_is_emulator() ? "stand-in" : "hw";
}

const char *gpu_exp_meaning(bool hw)
{
    if (!hw)
        return "weights by fmaf alone, the same bits everywhere";
    return target_is_emulator() ? "weights by exp2f of C, a stand-in for ex2.approx: no GPU's bits"
                                : "weights by ex2.approx, whose bits are this GPU's own";
}

/* One option with a value; false, without a sentence in why->text, when it is none of ours. */
static bool take_value(struct gpu_words *w, const char *word, const char *value,
                       struct message *why)
{
    int64_t seed;
    why->text[0] = 0;
    if (strcmp(word, "--kernel") == 0) {
        w->kernel_given = true;
        return gpu_kernel_from_name(value, &w->kernel, why);
    }
    if (strcmp(word, "--accumulate") == 0)
        return read_unit(value, &w->unit, why);
    if (strcmp(word, "--schedule") == 0)
        return read_schedule(value, &w->target.schedule, why);
    if (strcmp(word, "--exp") == 0) {
        w->target.hw = strcmp(value, "hw") == 0;
        return w->target.hw || strcmp(value, "poly") == 0 ||
               refuse(why, "--exp %.40s: poly or hw is right", value);
    }
    if (strcmp(word, "--schedule-seed") == 0) {
        if (!parse_integer(word, value, 0, INT64_MAX, &seed, why))
            return false;
        w->target.seed = (uint64_t)seed;
        return true;
    }
    return false;
}

bool gpu_words_read(struct gpu_words *w, int argc, char **argv, struct message *why)
{
    static const char *const valued[] = {"--kernel", "--accumulate", "--schedule",
                                         "--schedule-seed", "--exp"};
    enum { MOST = sizeof w->rest / sizeof *w->rest };
    memset(w, 0, sizeof *w);
    w->kernel = GPU_FA2;
    w->target.seed = 1;
    for (int i = 0; i < argc; i++) {
        bool ours = false;
        for (size_t v = 0; v < sizeof valued / sizeof *valued; v++)
            ours = ours || strcmp(argv[i], valued[v]) == 0;
        if (ours && i + 1 == argc)
            return refuse(why, "%s needs a value", argv[i]);
        if (ours && !take_value(w, argv[i], argv[i + 1], why))
            return false;
        w->how_given = w->how_given || (ours && strcmp(argv[i], "--kernel") != 0);
        if (ours)
            i++;
        else if (strcmp(argv[i], "--quick") == 0)
            w->quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            w->json = true;
        else if (strcmp(argv[i], "--pair") == 0)
            w->pair = true;
        else if (w->count == MOST)
            return refuse(why, "more than %d words", MOST);
        else
            w->rest[w->count++] = argv[i];
    }
    if (w->target.hw && w->pair)
        return refuse(
            why,
            "--exp hw has no pair: the bits of a GPU's 2^x are its own; leave out one of them");
    if (target_unit() != NULL && w->unit != NULL)
        return refuse(why,
                      "--accumulate is the emulator's: this GPU sums as its own tensor core does");
    w->unit = target_unit() != NULL ? target_unit() : w->unit;
    w->target.unit = w->unit;
    return true;
}

void gpu_add_target(struct json *j)
{
    json_string(j, "target", target_name());
    json_truth(j, "emulator", target_is_emulator());
}

void gpu_print_json(const struct report *r)
{
    char *text = json_text(r->json);
    puts(text);
    free(text);
}
