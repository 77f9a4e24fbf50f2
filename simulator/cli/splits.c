/* splits.c: `flashulp splits`: how a decode kernel on a GPU groups a sequence's tokens. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

enum { LONGEST = 1 << 30, MOST_LENS = 65536 };

int device_sms(const struct device_record *d)
{
    return (int)d->figure[QUANTITY_SMS];
}

/* An option as a number; without it `usual`. */
static bool number(const struct scenario *s, enum option o, int64_t least, int64_t most,
                   int64_t usual, int64_t *x, struct message *why)
{
    *x = usual;
    return s->value[o] == NULL ||
           parse_integer(option_info(o)->name, s->value[o], least, most, x, why);
}

/* The rules that ask no device group alike on all. */
static bool read_devices(struct splits_request *q, const char *list, struct message *why)
{
    bool asks = split_rule_info(q->rule)->needs_device;
    if (list == NULL && !asks) {
        snprintf(q->device[0].name, sizeof q->device[0].name, "any GPU");
        q->devices = 1;
        return true;
    }
    return devices_from_list(list != NULL ? list : "H200,B200,RTX-PRO-6000", q->device,
                             STUDY_DEVICES, &q->devices, why);
}

static bool read_heads(struct splits_request *q, const struct scenario *s, struct message *why)
{
    bool given_q = s->given[OPTION_HEADS_Q], given_kv = s->given[OPTION_HEADS_KV];
    struct launch *l = &q->launch;
    if (!given_q && !given_kv && q->rule != SPLIT_RULE_DECODE)
        return refuse(why,
                      "how many heads? --heads-kv N is right, and --heads-q where they differ");
    if (!number(s, OPTION_HEADS_KV, 1, 65536, 1, &l->heads_kv, why) ||
        !number(s, OPTION_HEADS_Q, 1, 65536, l->heads_kv, &l->heads_q, why))
        return false;
    if (!given_kv)
        l->heads_kv = l->heads_q;
    return true;
}

/* --batch-lens 100,27525 */
static bool read_lens(struct splits_request *q, const struct scenario *s, struct message *why)
{
    struct launch *l = &q->launch;
    const char *text = s->value[OPTION_BATCH_LENS];
    if (s->given[OPTION_LEN] || s->given[OPTION_LAUNCH_BATCH])
        return refuse(why, "--batch-lens stands in place of --batch and --len");
    if (!parse_list("--batch-lens", text, &q->lens, &q->len_count, why))
        return false;
    if (q->len_count > MOST_LENS)
        return refuse(why, "--batch-lens: at most %d sequences", MOST_LENS);
    l->batch = q->len_count;
    l->longest = l->shortest = q->lens[0];
    for (int64_t i = 0; i < q->len_count; i++) {
        if (q->lens[i] < 0 || q->lens[i] > LONGEST)
            return refuse(why, "--batch-lens %.40s: %" PRId64 " is outside 0 to %d", text,
                          q->lens[i], LONGEST);
        if (q->lens[i] > l->longest)
            l->longest = q->lens[i];
        if (q->lens[i] < l->shortest)
            l->shortest = q->lens[i];
    }
    return true;
}

static bool read_lengths(struct splits_request *q, const struct scenario *s, struct message *why)
{
    struct launch *l = &q->launch;
    l->shortest = -1;
    l->batch = 1;
    if (q->workload != WORKLOAD_COUNT) {
        static const enum option others[] = {OPTION_LEN, OPTION_LAUNCH_BATCH, OPTION_BATCH_LENS,
                                             OPTION_CAPACITY, OPTION_INVARIANT};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (s->given[others[i]])
                return refuse(why, "--workload says the lengths; %s does not go with it",
                              option_info(others[i])->name);
        return true;
    }
    if (s->given[OPTION_BATCH_LENS])
        return read_lens(q, s, why);
    if (!s->given[OPTION_LEN])
        return refuse(why, "how many tokens? --len N is right, or --batch-lens, or --workload");
    return number(s, OPTION_LEN, 0, LONGEST, 0, &l->longest, why) &&
           number(s, OPTION_LAUNCH_BATCH, 1, SPLIT_LARGEST, 1, &l->batch, why);
}

static bool take_switch(void *request, const char *line, struct message *why)
{
    struct splits_request *q = request;
    return split_option_set(&q->launch, q->rule, line, why);
}

static bool read_workload(struct splits_request *q, const char *name, struct message *why)
{
    const char *names[WORKLOAD_COUNT];
    q->workload = WORKLOAD_COUNT;
    if (name == NULL)
        return true;
    for (int w = 0; w < WORKLOAD_COUNT; w++) {
        names[w] = workload_name((enum workload)w);
        if (strcmp(names[w], name) == 0)
            q->workload = (enum workload)w;
    }
    const char *near = nearest_name(name, names, WORKLOAD_COUNT);
    if (q->workload != WORKLOAD_COUNT)
        return true;
    return near != NULL
               ? refuse(why, "no workload is named \"%.40s\"; did you mean %s?", name, near)
               : refuse(why, "no workload is named \"%.40s\"; flashulp list workloads", name);
}

static bool read_request(struct splits_request *q, const struct scenario *s, struct message *why)
{
    const char *kernel = s->value[OPTION_RULE];
    int64_t splits;
    *q = (struct splits_request){.version = ""};
    if (s->problem != NULL)
        return refuse(why, "%.60s: splits takes options only, such as --len 27525", s->problem);
    if (kernel != NULL && strchr(kernel, '@') != NULL)
        return refuse(why, "--kernel %.60s: --device names the GPU", kernel);
    if (!split_kernel_from_text(kernel != NULL ? kernel : "fa2-split", &q->rule, &q->version,
                                why) ||
        !read_workload(q, s->value[OPTION_WORKLOAD], why) || !read_lengths(q, s, why) ||
        !read_heads(q, s, why) || !read_devices(q, s->value[OPTION_DEVICES], why) ||
        !number(s, OPTION_DIM, 1, 65536, 128, &q->launch.dim, why) ||
        !number(s, OPTION_LEN_Q, 1, SPLIT_LARGEST, 1, &q->launch.len_q, why) ||
        !number(s, OPTION_CAPACITY, 1, LONGEST, 0, &q->launch.capacity, why) ||
        !number(s, OPTION_NUM_SPLITS, 1, SPLIT_LARGEST, 0, &splits, why))
        return false;
    q->launch.num_splits = (int)splits;
    return each_line(s->value[OPTION_RULE_SWITCH], take_switch, q, why);
}

static bool answer_launch(struct splits_page *page, struct splits_request *q, bool study,
                          struct message *why)
{
    for (int d = 0; d < q->devices; d++) {
        q->launch.sms = device_sms(&q->device[d]);
        if (!split_plan(q->rule, q->version, &q->launch, &page->plan[d], why))
            return false;
    }
    splits_json(page);
    if (study)
        return splits_invariant_page(page, why);
    splits_text(page);
    return true;
}

static bool answer(struct report *r, const struct scenario *s, struct splits_request *q,
                   struct message *why)
{
    struct splits_page page = {.report = r, .request = q};
    bool workload = q->workload != WORKLOAD_COUNT;
    if (workload ? !splits_workload_page(r, q, why)
                 : !answer_launch(&page, q, s->given[OPTION_INVARIANT], why))
        return false;
    splits_report_page(&page);
    return true;
}

int cli_splits(int argc, char **argv)
{
    struct scenario s;
    struct splits_request q;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_SPLITS, argc, argv, &status))
        return status;
    const char *endings = s.given[OPTION_WORKLOAD] ? "html md json csv" : "html md json csv svg";
    report_new(&r, &s);
    if (!read_request(&q, &s, &why) || !report_check_outputs(&s, endings, NULL, 0, &why) ||
        !answer(&r, &s, &q, &why) || !report_finish(&r, &why))
        status = cli_refused("splits", &why);
    free(q.lens);
    report_free(&r);
    scenario_free(&s);
    return status;
}
