# FlashULP.  `make help` lists what there is.  GNU make 3.81 or later; everything is built in $(B).
B        ?= build
CC       ?= cc
OPT      ?= -O3
PREFIX   ?= /usr/local
VERSION  := 0.1
REVISION := $(shell cat .revision 2>/dev/null || git describe --always --dirty 2>/dev/null)
WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
CFLAGS   ?= -g
FIXED    := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -fvisibility=hidden -pthread -I. -I$(B) -MMD -MP
LDLIBS   := -lmpfr -lgmp -lcjson -lm -pthread
FLAGS    := $(FIXED) $(OPT) $(WARN) $(CFLAGS)
ALL       = $(FLAGS) $(EXTRA)

# One source, one table of bodies per processor level; cpu.c picks at start.  Same bits in each.
MACHINE  := $(shell $(CC) -dumpmachine 2>/dev/null)
LEVELS   := base $(if $(findstring x86_64,$(MACHINE)),v3 v4)
LEVEL_v3   := -march=x86-64-v3
LEVEL_v4   := -march=x86-64-v4 -mprefer-vector-width=512
LEVELLED := simulator/arith_float.c simulator/mma_step.c simulator/special_lanes.c

GSL_ONLY := simulator/inputs.c simulator/stats.c
LIB_SRC  := $(filter-out $(GSL_ONLY) $(LEVELLED),$(wildcard reference/*.c simulator/*.c simulator/algorithms/*.c simulator/kernels/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(foreach l,$(LEVELS),$(patsubst %.c,$(B)/%.$(l).o,$(wildcard $(LEVELLED))))
CLI_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard simulator/cli/*.c $(GSL_ONLY)))
TESTS    := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_*.c)) $(B)/tests/digests
BENCHES  := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/bench_*.c))

.PHONY: all gpu help demo test test-full test-programs test-asan fuzz bench clean check-arrows check-pairs check-docs check-lessons deps install uninstall dist FORCE
all: $(B)/flashulp
include visualize/view.mk gpu/gpu.mk lessons/lab.mk

help:
	@sed -n 's/^## //p' Makefile gpu/gpu.mk lessons/lab.mk

## make            build build/flashulp
## make demo       install what is missing (as root), build, show what this is about
## make test       the same, then every test of the suite (under 20 minutes on two cores)
## make test-full  the long proofs too: all 2^32 inputs, other compilers, levels and processors
## make test-asan  the tests under the address and undefined-behaviour sanitizers
## make fuzz       every reader under libFuzzer, SECONDS=60 each (needs clang)
## make bench      speed against the peers this machine has, as ratios in one run; JSON=FILE too
## make install    program, library, manual and data under PREFIX (/usr/local); make uninstall
## make dist       build/flashulp-VERSION.tar.gz
## make clean      remove build/

$(B)/%.o: %.c $(B)/FLAGS.setting
	@mkdir -p $(@D)
	$(CC) $(ALL) -c -o $@ $<

define LEVEL_RULE
$(B)/%.$(1).o: %.c $(B)/FLAGS.setting
	@mkdir -p $$(@D)
	$$(CC) $$(ALL) $(LEVEL_$(1)) -DCPU_LEVEL=$(1) -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$(l))))

$(B)/libflashulp.a: $(LIB_OBJ)
# The judges, and what tests share: each test takes what it needs.
$(B)/tests/libjudges.a: $(patsubst %.c,$(B)/%.o,$(wildcard tests/oracle_*.c tests/*_case.c tests/fuzz/fuzz*.c))
$(B)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

# What the settings were, rewritten only when they change.
$(B)/%.setting: FORCE
	@mkdir -p $(@D); echo '$($*)' | cmp -s - $@ || echo '$($*)' >$@
# Kept: make would delete one that only pattern rules name, and then compile everything again.
.PRECIOUS: $(B)/%.setting
$(B)/simulator/data.o: $(B)/PREFIX.setting
$(B)/simulator/data.o: EXTRA += -DPREFIX='"$(PREFIX)"'
$(B)/simulator/flashulp.o: EXTRA += -DVERSION='"$(VERSION)"'
$(B)/simulator/cli/version.o: $(B)/REVISION.setting
$(B)/simulator/cli/version.o: EXTRA += -DREVISION='"$(REVISION)"'
$(B)/recipes.inc: $(wildcard simulator/recipes/*) ; @mkdir -p $(B); simulator/recipes/embed.sh $(filter %.py,$^) >$@
$(B)/simulator/cli/recipe.o: $(B)/recipes.inc

# Its number is the public header's FLASHULP_ABI; it exports what that header declares.
$(B)/libflashulp.so: $(LIB_OBJ)
	abi=$$(sed -n 's/^#define FLASHULP_ABI \([0-9]*\).*/\1/p' simulator/flashulp.h) && \
	$(CC) $(ALL) -shared -Wl,-soname,libflashulp.so.$$abi -Wl,-z,defs -o $@ $^ $(LDLIBS)

$(B)/flashulp: $(CLI_OBJ) $(B)/libflashulp.a
	$(CC) $(ALL) -o $@ $^ -lgsl -lgslcblas $(LDLIBS)

$(B)/tests/%: tests/%.c $(B)/tests/libjudges.a $(B)/libflashulp.a
	@mkdir -p $(@D)
	$(CC) $(ALL) -o $@ $< $(filter %.o %.a,$^) -lcmocka $(LDLIBS)

$(B)/tests/test_inputs: $(B)/simulator/inputs.o
$(B)/tests/test_inputs: LDLIBS := $(B)/libflashulp.a -lgsl -lgslcblas $(LDLIBS)

$(B)/tests/bench/%: tests/bench/%.c $(B)/libflashulp.a
	@mkdir -p $(@D)
	$(CC) $(ALL) -o $@ $(filter %.c %.o %.a,$^) $(LDLIBS)

$(B)/tests/bench/bench_trace: $(B)/tests/bench/unnoted_fa2.o
$(B)/tests/bench/bench_fa2: $(foreach l,$(LEVELS),$(B)/tests/bench/fused_fa2.$(l).o)

# A silent build on every core, unless make was given a -j of its own.
CORES    := $(shell nproc 2>/dev/null || echo 1)
BUILD     = $(MAKE) -q $(B)/flashulp >/dev/null 2>&1 || echo "building: two or three minutes on two cores"; \
            $(MAKE) --no-print-directory -s $(if $(filter -j%,$(MAKEFLAGS)),,-j$(CORES))

demo: deps ; @$(BUILD) all && tests/demo.sh $(B)
test test-full: deps ; @$(BUILD) all test-programs && tests/run.sh $(B) $(if $(filter test,$@),quick,full)
test-programs: $(TESTS) $(BENCHES)
test-asan: ; @$(MAKE) --no-print-directory B=$(B)-asan OPT=-O1 CFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" test
bench: ; @$(MAKE) --no-print-directory -s all $(BENCHES) && CC="$(CC)" tests/bench/run.sh $(B) $(JSON)
install: all $(B)/libflashulp.so ; @packaging/install.sh $(B) "$(PREFIX)" "$(DESTDIR)" $(VERSION)
fuzz: ; @tests/fuzz/run.sh $(B) $(or $(SECONDS),60)
uninstall: ; @packaging/uninstall.sh "$(PREFIX)" "$(DESTDIR)"
dist: ; @packaging/dist.sh $(B) $(VERSION) "$(REVISION)"
deps: ; @tests/deps.sh $(if $(filter test%,$(MAKECMDGOALS)),test)

## make check-docs what README and the manual show is what the command prints; check-lessons: lessons
check-docs check-lessons check-arrows check-pairs: all
	@FLASHULP_BUILD=$(B) tests/$(subst -,_,$@).sh
clean: ; rm -rf $(B) $(B)-asan $(B)-fuzz

-include $(shell find $(B) -name '*.d' 2>/dev/null)
