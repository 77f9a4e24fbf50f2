/* launch.h: what the tiles and the machine scene start from: a shape, tiles, a device, as the
   command line says them; no tensor is made. */
#ifndef FLASHULP_VISUALIZE_LAUNCH_H
#define FLASHULP_VISUALIZE_LAUNCH_H

#include "simulator/devices.h"
#include "simulator/schedule.h"
#include "visualize/scene.h"

struct launch_words {
    struct attention_shape shape;
    struct tiling tile;
    struct device_record device;
    const char *said; /* the device, in the command line's word: a name or a file */
};
/* --shape or the problem's own sizes, --causal, --tile (128,64), --device (A100). */
bool launch_read(const struct scenario *s, struct launch_words *l, struct message *why);
/* "flashulp view --generate gaussian --shape 1,1,1,1024,1024,128 --tile 128,64", with these lines
   of --live (NULL: none). */
void launch_command(const struct scenario *s, const struct launch_words *l, char *live,
                    char **text);

#endif
