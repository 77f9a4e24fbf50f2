# The viewer, included by the Makefile: built where SDL2 and libpng are, else left out with its tests.
VIEW     := $(shell pkg-config --exists 'sdl2 >= 2.0.20' libpng 2>/dev/null && echo $(B)/flashulp-view)
VIEW_LIB := $(if $(VIEW),$(shell pkg-config --libs sdl2 libpng))
VIEW_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out visualize/main.c,$(wildcard visualize/*.c)))
VIEWED   := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_view*.c tests/bench/bench_view*.c))
ifeq (,$(VIEW))
TESTS    := $(filter-out $(VIEWED),$(TESTS))
BENCHES  := $(filter-out $(VIEWED),$(BENCHES))
all: ; @echo "skipped: the viewer needs SDL2 and libpng: apt-get install libsdl2-dev libpng-dev"
else
all: $(VIEW)
endif

$(B)/visualize/listings.inc: visualize/listings.sh $(wildcard simulator/algorithms/*.c gpu/kernels/*.cu gpu/kernels/*.h gpu/examples/*.cu)
	@mkdir -p $(@D)
	visualize/listings.sh $(filter-out %.sh,$^) >$@

$(B)/visualize/listing.o: $(B)/visualize/listings.inc
$(B)/visualize/listing.o: EXTRA += -I$(B)/visualize
$(B)/visualize/window.o: EXTRA += $(shell pkg-config --cflags sdl2 2>/dev/null)

$(B)/libview.a: $(VIEW_OBJ)

$(B)/flashulp-view: $(B)/visualize/main.o $(B)/libview.a $(B)/simulator/inputs.o $(B)/libflashulp.a
	$(CC) $(ALL) -o $@ $^ $(VIEW_LIB) -lgsl -lgslcblas $(LDLIBS)

$(VIEWED): $(B)/libview.a $(B)/simulator/inputs.o
$(VIEWED): LDLIBS := $(B)/libview.a $(B)/libflashulp.a $(VIEW_LIB) -lgsl -lgslcblas $(LDLIBS)
