/* battery.h: how `flashulp battery` runs somebody's command. */
#ifndef FLASHULP_CLI_BATTERY_H
#define FLASHULP_CLI_BATTERY_H

#include "simulator/battery.h"
#include "simulator/process.h"

/* A command with places for files and settings: {q} {k} {v} {o}, see battery_command.c. */
struct battery_command {
    const char *text;
    bool has_o, has_lse, has_causal, has_window, has_softcap, has_length, has_do;
};
/* Refuses a command that lacks {q}, {k}, {v}, or both {o} and the gradients' places {do} {dq} {dk}
   {dv}; or has one of these without the others, or a place that is misspelt. */
bool battery_command(const char *text, struct battery_command *command, struct message *why);
/* What a case asks that the command has no place for ("{causal}"), or NULL. */
const char *battery_lacks(const struct battery_command *command, const struct battery_case *c);

struct battery_run {
    bool ran, passed;
    struct battery_verdict verdict; /* if its output could be judged */
    char sentence[320];             /* why it failed or was not tested */
    double seconds;
    bool missing; /* the command could not be started */
};
/* Writes the case's files into `folder`, runs the command, judges what it wrote. */
bool battery_run(const struct battery_command *command, const struct battery_input *in,
                 const struct limits *limits, const char *folder, struct battery_run *run,
                 struct message *why);

#endif
