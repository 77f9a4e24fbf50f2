# The labs' grader.  lessons/driver.c is not of it: it is compiled with every lab file.
LAB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out lessons/driver.c,$(wildcard lessons/*.c)) $(wildcard lessons/*/check.c))
all: $(B)/flashulp-lab
$(B)/flashulp-lab: $(LAB_OBJ) $(B)/libflashulp.a
	$(CC) $(ALL) -o $@ $^ $(LDLIBS)
## make lab-07     grade FILE=fa2.c
lab-%: all
	@$(B)/flashulp lab $* $(or $(FILE),$(wildcard lessons/$*-*/lab.c))
