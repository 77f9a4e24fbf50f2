/* launch.h: included before a kernel file, it sends the file's launches to the PTX that nvcc made of
   the same file: the host side compiled here, the device side there. */
#ifndef FLASHULP_PTX_LAUNCH_H
#define FLASHULP_PTX_LAUNCH_H

#include "gpu/emulator/cuemu.h"

#include <stdio.h>
#include <stdlib.h>

extern "C" void ptx_start(const void *kernel, const unsigned grid[3], const unsigned block[3],
                          size_t shared_bytes, const unsigned char *params, size_t bytes);

/* The parameters as a kernel's frame holds them: each at a multiple of its alignment. */
struct ptx_frame {
    unsigned char bytes[1024];
    size_t used;
};

template <class T> static void ptx_put(ptx_frame *frame, T x)
{
    frame->used = (frame->used + alignof(T) - 1) / alignof(T) * alignof(T);
    if (frame->used + sizeof x > sizeof frame->bytes)
        abort();
    memcpy(frame->bytes + frame->used, &x, sizeof x);
    frame->used += sizeof x;
}

template <class... Parameters, class... Arguments>
static void ptx_launch_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                              size_t shared_bytes, Arguments... arguments)
{
    ptx_frame frame = {};
    (ptx_put<Parameters>(&frame, arguments), ...);
    const unsigned grids[3] = {grid.x, grid.y, grid.z}, blocks[3] = {block.x, block.y, block.z};
    ptx_start((const void *)kernel, grids, blocks, shared_bytes, frame.bytes, frame.used);
}

#undef LAUNCH
#define LAUNCH(kernel, grid, block, shared_bytes, ...)                                             \
    ptx_launch_kernel(kernel, grid, block, shared_bytes, ##__VA_ARGS__)

#endif
