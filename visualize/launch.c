/* launch.c: see launch.h. */
#include "visualize/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"

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
    const char *device = s->value[OPTION_DEVICE];
    if (!read_shape(s, &l->shape, why))
        return false;
    if (s->value[OPTION_TILE] != NULL &&
        !parse_integers("--tile", s->value[OPTION_TILE], "Br,Bc", 2, 1, 65536, tile, why))
        return false;
    l->tile = (struct tiling){(int)tile[0], (int)tile[1], 4};
    return device_lookup(device != NULL ? device : "A100", &l->device, why);
}

void launch_command(const struct scenario *s, const struct launch_words *l, char **text)
{
    static char family[] = "gaussian";
    struct scenario said = *s;
    char shape[160], tile[40];
    const struct attention_shape *a = &l->shape;
    snprintf(shape, sizeof shape, "%lld,%lld,%lld,%lld,%lld,%lld", (long long)a->batch,
             (long long)a->heads_q, (long long)a->heads_kv, (long long)a->len_q,
             (long long)a->len_k, (long long)a->dim);
    snprintf(tile, sizeof tile, "%d,%d", l->tile.Br, l->tile.Bc);
    said.problem = NULL;
    said.value[OPTION_GENERATE] = family;
    said.value[OPTION_SHAPE] = shape;
    said.value[OPTION_TILE] = tile;
    said.value[OPTION_DEVICE] = (char *)(uintptr_t)l->device.name;
    said.given[OPTION_GENERATE] = said.given[OPTION_SHAPE] = said.given[OPTION_TILE] = true;
    said.given[OPTION_DEVICE] = true;
    said.given[OPTION_CAUSAL] = a->causal;
    char *command = scenario_command(&said);
    text_append(text, "%s", command);
    free(command);
}
