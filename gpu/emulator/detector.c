/* detector.c: what detector.h announces; nothing is detected so far. */
#include "gpu/emulator/detector.h"
void detector_launch(void) {}
void detector_block(void) {}
void detector_syncwarp(struct warp *w) { (void)w; }
void detector_barrier(int id) { (void)id; }
void detector_converge(struct warp *w) { (void)w; }
void detector_access(const struct lane *l, const void *address, size_t bytes, enum access access, struct cuemu_site at) { (void)l,(void)address,(void)bytes,(void)access,(void)at; }
void detector_copy_begin(const struct lane *l, const struct pending_copy *c) { (void)l,(void)c; }
void detector_copy_end(const struct lane *l, const struct pending_copy *c) { (void)l,(void)c; }
void detector_global(void *from, size_t bytes) { (void)from,(void)bytes; }
void detector_global_gone(void *from) { (void)from; }
void detector_host_write(const void *address, size_t bytes) { (void)address,(void)bytes; }
