# The emulator, kernels compiled for it and flashulp-gpu, included by the Makefile: built where a C++
# compiler is, else left out with their tests.
EMU_OBJ  := $(patsubst %.c,$(B)/%.o,$(filter-out %/mma_tile.c,$(wildcard gpu/emulator/*.c))) $(LEVELS:%=$(B)/gpu/emulator/mma_tile.%.o)
GPU_OBJ  := $(patsubst %.c,$(B)/%.o,$(filter-out gpu/target_%,$(wildcard gpu/*.c))) $(B)/simulator/inputs.o
KERNELS  := $(wildcard gpu/kernels/*.cu)
EMULATED := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_emulator*.c))
ifeq (,$(shell command -v $(CXX) 2>/dev/null))
TESTS    := $(filter-out $(EMULATED) $(B)/tests/test_ptx,$(TESTS))
.PHONY: no-gpu
all: no-gpu
no-gpu: ; @echo "skipped: CUDA kernels on the emulator need a C++ compiler: apt-get install g++"
else
all: $(B)/flashulp-gpu
test-programs: $(B)/tests/lanes_example
endif
# The program for GPUs takes minutes to build: not part of `all`, which says so.
.PHONY: gpu-said
all: gpu-said
gpu-said: ; @[ -x $(B)/flashulp-gpu-device ] || gpu/device.sh say

$(B)/libemulator.a: $(EMU_OBJ)

# A kernel for the emulator: plainly, and with every access reported to the detector.  Its lines are
# named from the repository's folder, whichever that is: a compiler's cache may serve several.
KERNEL    = $(CXX) -x c++ -std=c++17 -O2 -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti -fstack-clash-protection -ffile-prefix-map=$(CURDIR)=. -fPIC -Wall -Wextra -Wno-unknown-pragmas -DFLASHULP_EMULATED -I. -MMD -MP -c -o $@ $<
$(B)/%.emulated.o: %.cu $(B)/FLAGS.setting
	@mkdir -p $(@D)
	$(KERNEL) $(CFLAGS)
$(B)/%.checked.o: %.cu $(B)/FLAGS.setting
	@mkdir -p $(@D)
	$(KERNEL) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) -fsanitize=thread -DFLASHULP_CHECKED

KERNEL_O := $(KERNELS:%.cu=$(B)/%.emulated.o) $(KERNELS:%.cu=$(B)/%.checked.o) $(B)/libemulator.a
$(B)/flashulp-gpu: $(GPU_OBJ) $(B)/gpu/target_emulator.o $(KERNEL_O) $(B)/libflashulp.a
	$(CC) $(ALL) -o $@ $^ -lgsl -lgslcblas $(LDLIBS)

## make gpu        build/flashulp-gpu-device, our CUDA kernels for GPUs, where nvcc is: 7 minutes
gpu: $(GPU_OBJ) $(B)/libflashulp.a ; @gpu/device.sh $(B) $^

# What nvcc makes of the kernels, executed on a CPU: the host side of each file compiled here, its
# launches sent to the PTX of the same file.
PTX_ARCH ?= 80
PTX_LIB  := $(patsubst %,$(B)/gpu/ptx/%.o,read instruction pure run memory warp)
PTX_HOST := $(KERNELS:gpu/kernels/%.cu=$(B)/gpu/ptx/%.host.o)
PTX_TEXT := $(KERNELS:gpu/kernels/%.cu=$(B)/gpu/ptx/$(PTX_ARCH)/%.ptx)
$(B)/gpu/ptx/%.host.o: gpu/kernels/%.cu gpu/ptx/launch.h $(B)/FLAGS.setting
	@mkdir -p $(@D)
	$(KERNEL) $(CFLAGS) -O0 -include gpu/ptx/launch.h
$(B)/gpu/ptx/$(PTX_ARCH)/%.ptx: gpu/kernels/%.cu $(wildcard gpu/kernels/*.h) simulator/special_poly.h
	@mkdir -p $(@D)
	nvcc -ptx -arch=compute_$(PTX_ARCH) -std=c++17 -fmad=false -I. -o $@ $<
$(B)/flashulp-gpu-ptx: $(GPU_OBJ) $(PTX_LIB) $(B)/gpu/ptx/names.o $(B)/gpu/ptx/target_ptx.o $(PTX_HOST) $(B)/libemulator.a $(B)/libflashulp.a
	$(CXX) $(filter -fsanitize%,$(CFLAGS)) -o $@ $^ -lgsl -lgslcblas $(LDLIBS)
## make ptx        build/flashulp-gpu-ptx, what nvcc made of the kernels, executed on a CPU
.PHONY: ptx
ifeq (,$(shell command -v nvcc 2>/dev/null))
ptx: ; @echo "ptx: no nvcc here: skipped (CUDA toolkit)"
else
ptx: $(B)/flashulp-gpu-ptx $(PTX_TEXT)
endif
$(B)/tests/test_ptx: $(PTX_LIB) $(B)/libemulator.a
$(B)/tests/test_ptx: LDLIBS := $(B)/libemulator.a $(B)/libflashulp.a $(LDLIBS)

# test_emulator*_checked take the kernels that report, the others the plain ones.
$(EMULATED): $(B)/libemulator.a
$(EMULATED): LDLIBS := $(B)/libemulator.a $(B)/libflashulp.a $(LDLIBS)
$(filter-out %_checked,$(EMULATED)): $(patsubst %.cu,$(B)/%.emulated.o,$(wildcard tests/emulated/*.cu))
$(filter %_checked,$(EMULATED)): $(patsubst %.cu,$(B)/%.checked.o,$(wildcard tests/emulated/*.cu))

$(B)/tests/test_gpu_fits: $(B)/gpu/pair.o
$(B)/tests/test_gpu_fits: LDLIBS := $(B)/libflashulp.a $(LDLIBS)

$(B)/tests/bench/bench_emulator: $(B)/libemulator.a

# The trace that the viewer's scene of lanes begins with; check_view.sh makes it anew and compares.
$(B)/tests/lanes_example: $(B)/gpu/examples/exchange.checked.o $(B)/libemulator.a $(B)/libflashulp.a
$(B)/tests/lanes_example: LDLIBS := $(B)/libemulator.a $(B)/libflashulp.a $(LDLIBS)
## make lanes-example tests/data/lanes.trace anew, from gpu/examples/exchange.cu
lanes-example: $(B)/tests/lanes_example ; $< tests/data/lanes.trace
.PHONY: lanes-example
