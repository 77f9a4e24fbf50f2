/* splits.h: what the files of `flashulp splits` share: the request, and its pages. */
#ifndef FLASHULP_CLI_SPLITS_H
#define FLASHULP_CLI_SPLITS_H

#include "simulator/devices.h"
#include "simulator/report.h"
#include "simulator/splits_study.h"

struct splits_request {
    enum split_rule rule;
    const char *version;  /* as asked, or "" */
    struct launch launch; /* sms: of the device in hand */
    int devices;          /* at least one; "any GPU" where the rule does not ask */
    struct device_record device[STUDY_DEVICES];
    int64_t *lens; /* of --batch-lens, or NULL */
    int64_t len_count;
    enum workload workload; /* WORKLOAD_COUNT: none */
};

/* One launch on every device. */
struct splits_page {
    struct report *report;
    const struct splits_request *request;
    struct split_plan plan[STUDY_DEVICES];
};

int device_sms(const struct device_record *d);
/* "fa2-split:2.5.6" as the headline has it, with what the version means. */
void splits_headline(const struct splits_request *q, const struct split_plan *p, char **text);
/* " label   words", wrapped. */
void splits_words(struct report *r, const char *label, const char *words);
/* Every sentence of a kind. */
void splits_says(struct report *r, const struct splits_request *q, enum split_text what,
                 const char *label);

/* The table, the reasons, the picture, the pairs. */
void splits_text(struct splits_page *page);
/* The boundaries as lines. */
void splits_picture(const struct splits_page *page, char **text);
void splits_json(struct splits_page *page);
/* The report's page, from its text and table, which are complete; with a launch (the request has no
   workload) the boundaries as a figure. */
void splits_report_page(struct splits_page *page);
bool splits_workload_page(struct report *r, const struct splits_request *q, struct message *why);
bool splits_invariant_page(struct splits_page *page, struct message *why);

#endif
