/* lanes.h: the story of an emulated kernel, out of a trace: the requests of one thread block's
   warps, timed as on one SM, its barriers, and what the emulator found wrong.

   Time: a step is a request done, or a barrier passed, in the order of the model's clock
   (warp_time.h): a pass over the banks of shared memory takes a clock, a sector and a matrix
   product what they take on the device; other instructions, which a trace does not have, none. */
#ifndef FLASHULP_VISUALIZE_LANES_H
#define FLASHULP_VISUALIZE_LANES_H

#include "simulator/devices.h"
#include "simulator/requests.h"
#include "simulator/trace_sync.h"
#include "simulator/warp_time.h"
#include "visualize/scene.h"

struct lanes_step {
    bool barrier;
    size_t index;    /* of the request, or the barrier */
    double from, to; /* in clocks */
    double waited;   /* for its unit; at a barrier: of all warps together */
    int finding;     /* that this request was part of, or -1 */
};

/* The waits of the warps that passed it together. */
struct lanes_barrier {
    struct sync_wait first;
    uint32_t warps;
    double waited[TIMED_WARPS]; /* clocks */
};

/* All that one line of the source did. */
struct lanes_line {
    uint32_t file, line; /* of the LANE chunk; barriers: of the SYNC chunk */
    bool barrier;
    int64_t times;           /* requests, or warps that stood there */
    int64_t passes, least;   /* of shared memory */
    int64_t sectors, fewest; /* of global memory */
    double waited;
};

struct lanes_view {
    struct scenario scenario; /* .problem: the trace's path */
    char path[1024];
    struct scenario tiles; /* where the reader came from; verb NULL: nowhere */
    struct trace *trace;
    struct trace_lanes lanes;
    struct trace_sync sync;
    struct device_record device;
    int64_t block, blocks;
    int warps;
    struct lane_requests requests;
    struct lanes_barrier *barrier;
    size_t barriers;
    struct warp_task *task;
    size_t tasks;
    struct warp_times times;
    struct lanes_step *step;
    int steps;
    struct lanes_line *line;
    int lines;
    int *found_at; /* the step that makes each finding, or -1: its access is not in this block */
};

/* Everything after trace, scenario and device; false: the sentence. */
bool lanes_tell(struct lanes_view *v, struct message *why);
void lanes_free(struct lanes_view *v);

/* "exchange.cu:22", or "?" where the line is not known. */
struct place_words {
    char text[96];
};
struct place_words lanes_place(const struct lanes_view *v, bool of_sync, uint32_t file,
                               uint32_t line);
/* The listing's name of that file, or NULL: its text is not known to this program. */
const char *lanes_listing(const struct lanes_view *v, bool of_sync, uint32_t file);
/* "race: warp 0, lane 5 writes at exchange.cu:22; warp 2, lane 5 read at exchange.cu:25". */
void lanes_finding_words(const struct lanes_view *v, int finding, char *text, size_t room);
/* Is an earlier finding between the same two lines? */
bool lanes_told(const struct lanes_view *v, int finding);

/* lanes_draw.c */
enum { LANES_CELL = 1 }; /* shape.what: + lane */
void lanes_draw(const struct scene *scene, const struct look *look, struct box stage,
                struct drawing *d);

extern const struct scene_kind scene_lanes;
/* The trace that comes with FlashULP; `from`: where the reader comes from. */
bool lanes_open_example(struct scene *changed, const struct scenario *from, struct message *why);

#endif
