/* requests.c: see requests.h. */
#include "simulator/requests.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS = 32, MOST_OPEN = 512 };

/* A warp's requests since its lanes last met: their numbers; where each lane is among them. */
struct open_requests {
    size_t number[MOST_OPEN];
    int count, cursor[REQUEST_LANES];
    uint32_t met;
};

struct forming {
    struct lane_requests *to;
    size_t room;
    uint32_t block;
    struct open_requests open[WARPS];
};

static bool same_place(const struct lane_access *a, const struct lane_access *b)
{
    return a->instruction == b->instruction && a->verb == b->verb && a->space == b->space &&
           a->bytes == b->bytes;
}

static struct lane_request *new_request(struct forming *f, const struct lane_access *a)
{
    struct lane_requests *r = f->to;
    if (r->count == f->room) {
        size_t larger = f->room == 0 ? 1024 : 2 * f->room;
        struct lane_request *all = realloc(r->request, larger * sizeof *all);
        if (all == NULL)
            return NULL;
        r->request = all;
        f->room = larger;
    }
    r->request[r->count] = (struct lane_request){.first = *a};
    return &r->request[r->count++];
}

/* The first from the lane's place on that is of this instruction and lacks the lane; else a new
   one; NULL: no memory. */
static struct lane_request *request_of(struct forming *f, const struct lane_access *a)
{
    uint32_t lane = a->thread % REQUEST_LANES;
    struct open_requests *o = &f->open[a->thread / REQUEST_LANES % WARPS];
    if (o->met != a->met || o->count == MOST_OPEN)
        *o = (struct open_requests){.met = a->met};
    for (int turn = 0; turn < o->count; turn++) {
        int n = (o->cursor[lane] + turn) % o->count;
        struct lane_request *r = &f->to->request[o->number[n]];
        if (same_place(&r->first, a) && (r->lanes >> lane & 1) == 0) {
            o->cursor[lane] = n + 1;
            return r;
        }
    }
    struct lane_request *r = new_request(f, a);
    if (r != NULL) {
        o->number[o->count++] = (size_t)(r - f->to->request);
        o->cursor[lane] = o->count;
    }
    return r;
}

/* The words of those lanes, bank by bank: in which pass each lane is served from `base` on. */
static int part_passes(const struct trace_lanes *l, const struct lane_request *r, int first,
                       int last, int base, struct lane_turn turn[REQUEST_LANES])
{
    uint64_t seen[BANKS][REQUEST_LANES];
    int different[BANKS] = {0}, most = 0;
    for (int lane = first; lane < last; lane++) {
        if ((r->lanes >> lane & 1) == 0)
            continue;
        struct lane_access a = trace_lane(l, r->access[lane]);
        int words = a.bytes <= 4 ? 1 : a.bytes <= 16 ? (int)a.bytes / 4 : 4;
        for (int i = 0; i < words; i++) {
            uint64_t word = a.offset / 4 + (uint64_t)i;
            int bank = (int)(word % BANKS), at = 0;
            while (at < different[bank] && seen[bank][at] != word)
                at++;
            if (at == different[bank] && at < REQUEST_LANES)
                seen[bank][different[bank]++] = word;
            if (base + at > turn[lane].pass)
                turn[lane] = (struct lane_turn){base + at, at > 0};
            most = different[bank] > most ? different[bank] : most;
        }
    }
    return most;
}

static int lanes_at_once(const struct lane_request *r)
{
    uint32_t bytes = r->first.bytes;
    return bytes <= 4 ? REQUEST_LANES : bytes <= 8 ? REQUEST_LANES / 2 : REQUEST_LANES / 4;
}

int request_passes(const struct trace_lanes *l, const struct lane_request *r,
                   struct lane_turn turn[REQUEST_LANES])
{
    int at_once = lanes_at_once(r), passes = 0;
    for (int lane = 0; lane < REQUEST_LANES; lane++)
        turn[lane] = (struct lane_turn){-1, false};
    for (int first = 0; first < REQUEST_LANES; first += at_once)
        passes += part_passes(l, r, first, first + at_once, passes, turn);
    return passes;
}

static int parts_in_use(const struct lane_request *r)
{
    int at_once = lanes_at_once(r), parts = 0;
    for (int first = 0; first < REQUEST_LANES; first += at_once)
        parts += (r->lanes >> first & (UINT32_MAX >> (REQUEST_LANES - at_once))) != 0;
    return parts;
}

/* Different sectors that the lanes touch. */
static int sectors(const struct trace_lanes *l, const struct lane_request *r)
{
    uint64_t sector[2 * REQUEST_LANES];
    int count = 0;
    for (int lane = 0; lane < REQUEST_LANES; lane++) {
        if ((r->lanes >> lane & 1) == 0)
            continue;
        struct lane_access a = trace_lane(l, r->access[lane]);
        uint64_t first = a.offset / SECTOR_BYTES;
        uint64_t last = (a.offset + (a.bytes > 0 ? a.bytes - 1 : 0)) / SECTOR_BYTES;
        for (uint64_t s = first; s <= last && s <= first + 1; s++) {
            int at = 0;
            while (at < count && sector[at] != s)
                at++;
            if (at == count)
                sector[count++] = s;
        }
    }
    return count;
}

static void weigh(struct lane_requests *r, const struct trace_lanes *l)
{
    struct lane_turn turn[REQUEST_LANES];
    for (size_t n = 0; n < r->count; n++) {
        struct lane_request *q = &r->request[n];
        bool global = q->first.space == LANE_GLOBAL;
        uint64_t bytes = (uint64_t)__builtin_popcount(q->lanes) * q->first.bytes;
        q->passes = global ? sectors(l, q) : request_passes(l, q, turn);
        q->least = global ? (int)((bytes + SECTOR_BYTES - 1) / SECTOR_BYTES) : parts_in_use(q);
    }
}

static bool form(struct forming *f, const struct trace_lanes *l, int64_t block, struct message *why)
{
    for (size_t n = 0; n < l->count; n++) {
        struct lane_access a = trace_lane(l, n);
        if (block >= 0 && a.block != (uint64_t)block)
            continue;
        if (a.instruction == 0)
            return refuse(why, "its accesses do not say which belong together; flashulp-gpu trace "
                               "of this version makes one whose do");
        if (f->to->count == 0 || a.block != f->block)
            memset(f->open, 0, sizeof f->open);
        f->block = a.block;
        struct lane_request *r = request_of(f, &a);
        if (r == NULL)
            return refuse(why, "no memory for the requests of %zu accesses", l->count);
        r->lanes |= UINT32_C(1) << a.thread % REQUEST_LANES;
        r->access[a.thread % REQUEST_LANES] = (uint32_t)n;
    }
    return true;
}

bool lane_requests_new(struct lane_requests *r, const struct trace_lanes *l, int64_t block,
                       struct message *why)
{
    struct forming *f = calloc(1, sizeof *f);
    *r = (struct lane_requests){NULL, 0};
    if (f == NULL)
        return refuse(why, "no memory");
    f->to = r;
    bool ok = form(f, l, block, why);
    free(f);
    if (ok)
        weigh(r, l);
    else
        lane_requests_free(r);
    return ok;
}

void lane_requests_free(struct lane_requests *r)
{
    free(r->request);
    *r = (struct lane_requests){NULL, 0};
}
