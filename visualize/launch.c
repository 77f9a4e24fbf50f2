/* launch.c: see launch.h. */
#include "visualize/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/scene_parts.h"

static bool read_shape(const struct scenario *s, struct attention_shape *shape, struct message *why)
{
    int64_t n[6];
    struct scenario_input in;
    if (s->value[OPTION_SHAPE] != NULL) {
        if (!parse_integers("--shape", s->value[OPTION_SHAPE], "B,Hq,Hkv,Nq,Nk,D", 6, 1, 1 << 20, n,
                            why))
            return false;
    } else {
        if (!scenario_problem(s, &in, why))
            return false;
        const struct problem *p = &in.problem;
        const int64_t sizes[6] = {p->B, p->Hq, p->Hkv, p->Nq, p->Nk, p->D};
        memcpy(n, sizes, sizeof n);
        scenario_input_free(&in);
    }
    for (int i = 0; i < 6; i++)
        if (n[i] < 1)
            return refuse(why, "an empty problem launches nothing; sizes from 1 are right");
    if (n[1] % n[2] != 0)
        return refuse(why, "--shape: Hq is a multiple of Hkv; %lld is not of %lld", (long long)n[1],
                      (long long)n[2]);
    *shape = (struct attention_shape){.batch = n[0],
                                      .heads_q = n[1],
                                      .heads_kv = n[2],
                                      .len_q = n[3],
                                      .len_k = n[4],
                                      .dim = n[5],
                                      .causal = s->given[OPTION_CAUSAL]};
    return true;
}

bool launch_read(const struct scenario *s, struct launch_words *l, struct message *why)
{
    int64_t tile[2] = {128, 64};
    l->said = s->value[OPTION_DEVICE] != NULL ? s->value[OPTION_DEVICE] : "A100";
    if (!read_shape(s, &l->shape, why))
        return false;
    if (s->value[OPTION_TILE] != NULL &&
        !parse_integers("--tile", s->value[OPTION_TILE], "Br,Bc", 2, 1, 65536, tile, why))
        return false;
    l->tile = (struct tiling){(int)tile[0], (int)tile[1], 4};
    return device_lookup(l->said, &l->device, why);
}

/* A shape says all that the words of another problem said. */
static struct scenario without_problem(const struct scenario *s)
{
    struct scenario other = *s;
    other.problem = NULL;
    for (int o = 0; o < OPTION_COUNT; o++)
        if (option_info((enum option)o)->groups & GROUP_PROBLEM) {
            other.value[o] = NULL;
            other.given[o] = false;
        }
    return other;
}

void launch_command(const struct scenario *s, const struct launch_words *l, char *live, char **text)
{
    struct scenario said = without_problem(s);
    char shape[160], tile[40];
    const struct attention_shape *a = &l->shape;
    snprintf(shape, sizeof shape, "%lld,%lld,%lld,%lld,%lld,%lld", (long long)a->batch,
             (long long)a->heads_q, (long long)a->heads_kv, (long long)a->len_q,
             (long long)a->len_k, (long long)a->dim);
    snprintf(tile, sizeof tile, "%d,%d", l->tile.Br, l->tile.Bc);
    said = scenario_with(&said, OPTION_GENERATE, "gaussian");
    said = scenario_with(&said, OPTION_SHAPE, shape);
    said = scenario_with(&said, OPTION_TILE, tile);
    said = scenario_with(&said, OPTION_DEVICE, l->said);
    said.given[OPTION_CAUSAL] = a->causal;
    command_append(&said, live, text);
}
