# The labs' grader.  lessons/driver.c is not of it: it is compiled with every lab file.
LAB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out lessons/driver.c,$(wildcard lessons/*.c)) $(wildcard lessons/*/check.c))
all: $(B)/flashulp-lab
$(B)/flashulp-lab: $(LAB_OBJ) $(B)/libflashulp.a
	$(CC) $(ALL) -o $@ $^ $(LDLIBS)
## make lab-07     grade FILE=fa2.c
lab-%: all
	@$(B)/flashulp lab $* $(or $(FILE),$(wildcard lessons/$*-*/lab.c*))
## make course     OUT=DIR CONF=course.ini: students' tree, their copies, Gradescope zips
course: all
	@lessons/course.sh $(B) "$(OUT)" "$(CONF)"
## make gradescope-test LAB=07: that lab's autograder, laid out and run on this machine; FILE=fa2.c
gradescope-test: all
	@lessons/gradescope_test.sh $(B) "$(LAB)" $(FILE)
.PHONY: course gradescope-test
$(B)/tests/test_course: $(filter-out %/main.o,$(LAB_OBJ))
$(B)/tests/test_course: LDLIBS := $(B)/libflashulp.a $(LDLIBS)
