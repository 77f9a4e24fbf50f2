/* splits_workload.c: `flashulp splits --workload NAME`: every decode step of a workload. */
#include <inttypes.h>
#include <stdlib.h>

#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

/* "6 of 22, 3 of them whole", "SP01-M001 only" */
static char *messages_text(const struct alike_count *c, int messages)
{
    char *text = NULL;
    if (c->only != NULL && c->messages == 1)
        text_append(&text, "%s-%s only", c->only->series, c->only->message);
    else
        text_append(&text, "%d of %d, %d of them whole", c->messages, messages, c->whole);
    return text;
}

static void alike_row(struct report *r, struct json *list, const struct workload_tally *t,
                      const char *who, const struct alike_count *c)
{
    char *messages = messages_text(c, t->messages);
    double share = t->steps > 0 ? 100 * (double)c->steps / (double)t->steps : 0;
    report_text(r, " %-27s %8s  %5.1f %%   %s\n", who, grouped(c->steps).text, share, messages);
    report_row(r, "%s\t%" PRId64 "\t%d\t%d", who, c->steps, c->messages, c->whole);
    struct json *j = json_object(list, NULL);
    json_string(j, "devices", who);
    json_whole(j, "steps", c->steps);
    json_whole(j, "messages", c->messages);
    json_whole(j, "whole", c->whole);
    free(messages);
}

static void print_alike(struct report *r, const struct splits_request *q,
                        const struct workload_tally *t)
{
    struct json *list = json_list(r->json, "alike");
    char who[140];
    report_text(r, "\n same groups on                 steps             in messages\n");
    report_row(r, "devices\tsteps\tmessages\twhole");
    for (int a = 0; a < q->devices; a++)
        for (int b = a + 1; b < q->devices; b++) {
            snprintf(who, sizeof who, "%s and %s", q->device[a].name, q->device[b].name);
            alike_row(r, list, t, who, &t->pair[a][b]);
        }
    if (q->devices > 2) {
        snprintf(who, sizeof who, "all %d", q->devices);
        alike_row(r, list, t, q->devices == 3 ? "all three" : who, &t->all);
    }
}

static void say_changes(struct report *r, const struct splits_request *q,
                        const struct workload_tally *t)
{
    char *text = NULL;
    struct json *list = json_list(r->json, "changes");
    text_append(&text, "The grouping changes inside a message");
    for (int d = 0; d < q->devices; d++) {
        struct json *j = json_object(list, NULL);
        json_string(j, "device", q->device[d].name);
        json_whole(j, "changes", t->changes[d]);
        if (q->devices == 1)
            report_row(r, "device\tchanges\n%s\t%" PRId64, q->device[d].name, t->changes[d]);
        if (t->changes[d] == 0)
            text_append(&text, "%s never on %s", d > 0 ? "," : "", q->device[d].name);
        else
            text_append(&text, "%s %" PRId64 " time%s on %s", d > 0 ? "," : "", t->changes[d],
                        t->changes[d] == 1 ? "" : "s", q->device[d].name);
    }
    text_append(&text, ".");
    report_text(r, "\n ");
    text_wrapped(&r->text, 1, 1, text);
    free(text);
}

/* The changes of one message on one device, if there are any. */
static void print_message(struct report *r, struct json *list, const struct splits_request *q,
                          const struct workload_tally *t, const struct decode_range *range, int d)
{
    char *name = NULL, *text = NULL;
    struct json *from = NULL;
    text_append(&name, "%s-%s", range->series, range->message);
    for (int i = 0; i < t->change_count; i++) {
        const struct grouping_change *c = &t->change[i];
        if (c->range != range || c->device != d)
            continue;
        if (from == NULL) {
            struct json *j = json_object(list, NULL);
            json_string(j, "message", name);
            json_string(j, "device", q->device[d].name);
            from = json_list(j, "from");
        }
        struct json *one = json_object(from, NULL);
        json_whole(one, "length", c->length);
        json_whole(one, "blocks_per_split", c->blocks);
        text_append(&text, "%s%s: %" PRId64, text != NULL ? ", " : "", grouped(c->length).text,
                    c->blocks);
    }
    if (text != NULL) {
        report_text(r, " %-9s  %-13.24s  ", name, q->device[d].name);
        text_wrapped(&r->text, 27, 27, text);
    }
    free(name);
    free(text);
}

static void print_changes(struct report *r, const struct splits_request *q,
                          const struct workload_tally *t)
{
    struct json *list = json_list(r->json, "messages");
    if (t->change_count == 0)
        return;
    report_text(r, "\n message    device         from this length on: blocks of a group\n");
    for (int i = 0; i < decode_range_count; i++)
        for (int d = 0; d < q->devices; d++)
            print_message(r, list, q, t, &decode_ranges[i], d);
}

bool splits_workload_page(struct report *r, const struct splits_request *q, struct message *why)
{
    struct workload_tally t;
    struct split_plan p;
    struct launch l = q->launch;
    int sms[STUDY_DEVICES];
    for (int d = 0; d < q->devices; d++)
        sms[d] = device_sms(&q->device[d]);
    l.sms = sms[0];
    if (!split_plan(q->rule, q->version, &l, &p, why) ||
        !split_workload(q->workload, q->rule, q->version, &q->launch, sms, q->devices, &t, why))
        return false;
    splits_headline(q, &p, &r->text);
    report_text(r, "over %d messages = %s decode steps: every length, not %d depths\n", t.messages,
                grouped(t.steps).text, t.messages);
    json_string(r->json, "kernel", split_rule_info(q->rule)->name);
    json_string(r->json, "workload", workload_name(q->workload));
    json_whole(r->json, "messages_total", t.messages);
    json_whole(r->json, "steps", t.steps);
    json_whole(r->json, "undecided", t.undecided);
    json_truth(r->json, "established", !p.bound);
    if (q->devices > 1)
        print_alike(r, q, &t);
    say_changes(r, q, &t);
    print_changes(r, q, &t);
    report_text(r, "\n");
    if (t.undecided > 0)
        report_text(r, " %s steps are UNDECIDED by what is established\n",
                    grouped(t.undecided).text);
    splits_says(r, q, SPLIT_EVIDENCE, "evidence");
    if (p.bound)
        splits_says(r, q, SPLIT_CAUTION, "caution");
    workload_tally_free(&t);
    return true;
}
