/* test_scenario.c: command lines into scenarios and back; what they make of problems, inputs,
   selections. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/scenario.h"

enum { MOST = 16 };

/* Splits as a shell does: blanks, '...' and \' outside quotes. */
static int split(const char *line, char **words)
{
    int count = 0;
    while (*line != 0) {
        char word[256];
        int n = 0;
        bool quoted = false;
        for (; *line != 0 && (quoted || *line != ' '); line++) {
            if (*line == '\'')
                quoted = !quoted;
            else if (*line == '\\' && !quoted)
                word[n++] = *++line;
            else
                word[n++] = *line;
        }
        word[n] = 0;
        words[count++] = strdup(word);
        line += *line == ' ';
    }
    return count;
}

static bool parse_line(const char *line, struct scenario *s, struct message *why)
{
    static const char *verbs[] = {"walk", "run", "exact", "trace", "bits", "list"};
    char *words[MOST];
    unsigned groups = 0;
    int count = split(line, words), v = 0;
    while (strcmp(verbs[v], words[1]) != 0)
        v++;
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (strcmp(command_info((enum command)c)->name, verbs[v]) == 0)
            groups = command_info((enum command)c)->groups;
    bool ok = scenario_parse(s, verbs[v], groups, count - 2, words + 2, why);
    for (int i = 0; i < count; i++)
        free(words[i]);
    return ok;
}

/* Lines that come back as they are. */
static const char *const lines[] = {
    "flashulp walk fa2-4",
    "flashulp walk fa2-4 --policy gpu-bf16 --changed",
    "flashulp run --scores '1 2 | 3 0' --values '10 20 | 30 0' --tile 1,2",
    "flashulp run cap.safetensors --causal --window -1,0 --heads 0,2-4 --json --force",
    "flashulp run p1 --set PROB=bf16 --set OUT=fp16 --order 'ROW_SUM=tree:((0 1) 2)' -o a -o b",
    "flashulp exact --q 'it'\\''s.npy' --k k.npy --v v.npy --digits 30",
    "flashulp exact --generate gaussian --seed 7 --shape 1,1,1,4,4,8 --softcap 0",
    "flashulp bits -0.5 --format bf16",
    "flashulp bits -inf",
    "flashulp run --scale '' fa2-4",
    "flashulp run -- --strange",
    "flashulp list",
};

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct scenario s, again;
        struct message why;
        if (!parse_line(lines[i], &s, &why))
            fail_msg("%s: %s", lines[i], why.text);
        char *command = scenario_command(&s);
        if (!parse_line(command, &again, &why))
            fail_msg("%s: %s", command, why.text);
        bool same = (s.problem == NULL) == (again.problem == NULL) &&
                    (s.problem == NULL || strcmp(s.problem, again.problem) == 0);
        for (int o = 0; o < OPTION_COUNT; o++) {
            same = same && s.given[o] == again.given[o];
            same = same && (s.value[o] == NULL) == (again.value[o] == NULL);
            same = same && (s.value[o] == NULL || strcmp(s.value[o], again.value[o]) == 0);
        }
        if (!same)
            fail_msg("%s came back as %s", lines[i], command);
        free(command);
        scenario_free(&s);
        scenario_free(&again);
    }
}

static void test_printed_as_typed(void **state)
{
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct scenario s;
        struct message why;
        assert_true(parse_line(lines[i], &s, &why));
        char *command = scenario_command(&s);
        if (i != 3) /* its options stand in another order than the table's */
            assert_string_equal(command, lines[i]);
        free(command);
        scenario_free(&s);
    }
}

static const struct {
    const char *line, *sentence;
} refused[] = {
    {"flashulp run fa2-4 --polcy fp32", "unknown option --polcy; did you mean --policy?"},
    {"flashulp run fa2-4 --xyzzy",
     "unknown option --xyzzy; flashulp run --help lists the options"},
    {"flashulp exact fa2-4 --policy fp32",
     "--policy is an option of walk, run, audit, view and trace, not of exact"},
    {"flashulp run fa2-4 --digits 3", "--digits is an option of exact, not of run"},
    {"flashulp run fa2-4 --policy", "--policy needs a word after it: NAME"},
    {"flashulp run fa2-4 --causal=yes", "--causal is a switch and takes no value"},
    {"flashulp run fa2-4 --causal --causal", "--causal is given twice"},
    {"flashulp run fa2-4 --tile 1,1 --tile 2,2", "--tile is given twice"},
    {"flashulp run fa2-4 p1", "fa2-4 and p1: one is right"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct scenario s;
        struct message why;
        if (parse_line(refused[i].line, &s, &why))
            fail_msg("%s was taken", refused[i].line);
        assert_string_equal(why.text, refused[i].sentence);
    }
}

/* What a line's problem is, or why there is none. */
static const struct {
    const char *line, *sentence; /* NULL: taken */
    int64_t sizes[6];            /* B Hq Hkv Nq Nk D */
    const char *remarks;
} problems[] = {
    {"flashulp run fa2-4", NULL, {1, 1, 1, 1, 4, 1}, ""},
    {"flashulp run p1", NULL, {1, 1, 1, 1, 4, 2}, ""},
    {"flashulp run m8 --policy fp32", NULL, {1, 1, 1, 1, 1, 16}, ""},
    {"flashulp run --scores '1 2 | 3 0' --values '10 20 | 30 0'", NULL, {1, 1, 1, 1, 4, 1}, ""},
    {"flashulp run --scores 0.1 --values 0.5", NULL, {1, 1, 1, 1, 1, 1},
     "1 of 3 inputs were rounded to fp32 at INPUT\n"},
    {"flashulp exact --scores 0.1 --values 0.5", NULL, {1, 1, 1, 1, 1, 1}, ""},
    {"flashulp run --scores 0.1 --values 0.5 --policy exact", NULL, {1, 1, 1, 1, 1, 1}, ""},
    {"flashulp exact --scores 0.1 --values 0.5 --dtype bf16", NULL, {1, 1, 1, 1, 1, 1},
     "1 of 3 inputs were rounded to bf16 at INPUT\n"},
    {"flashulp run --scores 0.1 --values 0.5 --set INPUT=fp16", NULL, {1, 1, 1, 1, 1, 1},
     "1 of 3 inputs were rounded to fp16 at INPUT\n"},
    {"flashulp run s2-g1 --policy fp8", NULL, {1, 1, 1, 1, 8, 1},
     "2 of 17 inputs were rounded to e4m3 at INPUT\n"},
    {"flashulp run fa2-5", "no example is named fa2-5; did you mean fa2-4?", {0}, NULL},
    {"flashulp run whatever-this-is",
     "no example is named whatever-this-is; flashulp list examples names them, and a file ends in "
     ".safetensors or .npz", {0}, NULL},
    {"flashulp run",
     "no problem is named; an example (fa2-4), a .safetensors or .npz file, --q --k --v, --scores "
     "--values, or --generate is right", {0}, NULL},
    {"flashulp run --q a.npy --v b.npy", "--q, --k and --v go together; --k is missing", {0}, NULL},
    {"flashulp run --scores '1 2'", "--scores and --values go together", {0}, NULL},
    {"flashulp run fa2-4 --scores 1 --values 1",
     "fa2-4 and --scores each name a problem; one is right", {0}, NULL},
    {"flashulp run fa2-4 --shape 1,1,1,1,1,1", "--shape goes with --generate", {0}, NULL},
    {"flashulp run fa2-4 --seed 1", "--seed goes with --generate", {0}, NULL},
    {"flashulp run fa2-4 --window -2,0",
     "--window -2,0: a side is -1 (unlimited) or 0 and more", {0}, NULL},
    {"flashulp run fa2-4 --window 1", "--window 1: L,R, 2 whole numbers, is right", {0}, NULL},
    {"flashulp run fa2-4 --softcap -1",
     "--softcap -1: 0 (none) or a positive number is right", {0}, NULL},
    {"flashulp run fa2-4 --softcap nan",
     "--softcap nan: 0 (none) or a positive number is right", {0}, NULL},
    {"flashulp run fa2-4 --scale big", "--scale big: a number is right", {0}, NULL},
    {"flashulp run fa2-4 --scale inf", "--scale inf: a finite number is right", {0}, NULL},
    {"flashulp run fa2-4 --causal-align left",
     "--causal-align left: bottom-right or top-left is right", {0}, NULL},
    {"flashulp run fa2-4 --layout hbnd", "--layout hbnd: bhnd or bnhd is right", {0}, NULL},
    {"flashulp run fa2-4 --layout bnhd", "--layout is for files", {0}, NULL},
    {"flashulp run fa2-4 --cu-seqlens 0,x",
     "--cu-seqlens 0,x: whole numbers separated by commas are right", {0}, NULL},
    {"flashulp run fa2-4 --cu-seqlens-k 0,4",
     "--cu-seqlens-k goes with --cu-seqlens, the queries'", {0}, NULL},
    {"flashulp run fa2-4 --cu-seqlens 0,1 --cu-seqlens-k 0,2,4",
     "--cu-seqlens has 2 numbers, --cu-seqlens-k 3; as many are right", {0}, NULL},
    {"flashulp run --generate gaussian --shape 1,1,1,1,1,1",
     "--generate needs the flashulp program: its library has no generators", {0}, NULL},
};

static void test_problems(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        struct scenario s;
        struct scenario_input in;
        struct message why;
        assert_true(parse_line(problems[i].line, &s, &why));
        bool ok = scenario_problem(&s, &in, &why);
        if (ok != (problems[i].sentence == NULL))
            fail_msg("%s: %s", problems[i].line, ok ? "was taken" : why.text);
        if (ok) {
            const struct problem *p = &in.problem;
            const int64_t sizes[6] = {p->B, p->Hq, p->Hkv, p->Nq, p->Nk, p->D};
            assert_memory_equal(sizes, problems[i].sizes, sizeof sizes);
            assert_string_equal(in.remarks, problems[i].remarks);
            scenario_input_free(&in);
        } else {
            assert_string_equal(why.text, problems[i].sentence);
        }
        scenario_free(&s);
    }
}

/* What is run: policy, algorithm, arithmetic, faults, tile of keys; or why not. */
static const struct {
    const char *line, *sentence, *policy, *algorithm, *arith;
    unsigned faults;
    int Bc;
} runs[] = {
    {"flashulp run fa2-4", NULL, "fp32", "fa2", "float", 0, 0},
    {"flashulp run p1", NULL, "gpu-bf16", "fa2", "float", 0, 0},
    {"flashulp run fa2-4 --dtype fp16", NULL, "gpu-fp16", "fa2", "float", 0, 0},
    {"flashulp run fa2-4 --policy exact", NULL, "exact", "fa2", "mpfr", 0, 0},
    {"flashulp run fa2-4 --set PROB=exact", NULL, "fp32+", "fa2", "mpfr", 0, 0},
    {"flashulp run fa2-4 --policy exact --arith double", NULL, "exact", "fa2", "double", 0, 0},
    {"flashulp run a6", NULL, "gpu-bf16", "fa2", "float", 0, 4},
    {"flashulp run a6 --tile 1,2", NULL, "gpu-bf16", "fa2", "float", 0, 2},
    {"flashulp run fa2-printed", NULL, "fp32", "fa2-printed", "float", 7, 0},
    {"flashulp run fa2-4 --algorithm fa2-printed", NULL, "fp32", "fa2-printed", "float", 7, 0},
    {"flashulp run printed-tile-max", NULL, "fp32", "fa2-printed", "float", 1, 0},
    {"flashulp run printed-tile-max --fault none", NULL, "fp32", "fa2-printed", "float", 0, 0},
    {"flashulp run printed-tile-max --algorithm fa2", NULL, "fp32", "fa2", "float", 0, 0},
    {"flashulp run printed-zero-start-2", NULL, "fp32", "fa2-printed", "float", 3, 0},
    {"flashulp run fa2-4 --algorithm fa2-printed --fault zero-start --fault no-tail-mask", NULL,
     "fp32", "fa2-printed", "float", 6, 0},
    {"flashulp run fa2-4 --fault tile-max",
     "--fault tile-max: fa2 has no such fault; fa2-printed has them all", NULL, NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --policy exact --arith float",
     "--arith float cannot hold site CONST of this policy, which is wider than fp32; --arith double "
     "or mpfr is right", NULL, NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --dtype fp64 --arith float",
     "--arith float takes inputs of fp32 and less; --dtype fp32, or --arith double, is right", NULL,
     NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --kv descending --algorithm online",
     "--kv descending is for fa2 and decode; online takes keys in ascending order", NULL, NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --kv sideways", "--kv sideways: ascending or descending is right", NULL,
     NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --tile 64", "--tile 64: Br,Bc, 2 whole numbers, is right", NULL, NULL,
     NULL, 0, 0},
    {"flashulp run fa2-4 --tile 1,-4", "--tile 1,-4: -4 is outside 0 to 65536", NULL, NULL, NULL, 0,
     0},
    {"flashulp run fa2-4 --threads 0", "--threads 0: a whole number from 1 to 1024 is right", NULL,
     NULL, NULL, 0, 0},
    {"flashulp run fa2-4 --precision 10",
     "--precision 10: a whole number from 24 to 65536 is right", NULL, NULL, NULL, 0, 0},
};

static void check_run(size_t i, const struct scenario *s, const struct scenario_input *in)
{
    struct simulation simulation;
    struct message why;
    bool ok = scenario_simulation(s, in, &simulation, &why);
    if (ok != (runs[i].sentence == NULL))
        fail_msg("%s: %s", runs[i].line, ok ? "was taken" : why.text);
    if (!ok) {
        assert_string_equal(why.text, runs[i].sentence);
        return;
    }
    assert_string_equal(simulation.policy.name, runs[i].policy);
    assert_string_equal(algorithm_info(simulation.algorithm)->name, runs[i].algorithm);
    assert_string_equal(simulation.arith->name, runs[i].arith);
    if (simulation.choices.faults != runs[i].faults || simulation.choices.Bc != runs[i].Bc)
        fail_msg("%s: faults %u, Bc %d", runs[i].line, simulation.choices.faults,
                 simulation.choices.Bc);
}

static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct scenario s;
        struct scenario_input in;
        struct message why;
        assert_true(parse_line(runs[i].line, &s, &why));
        if (!scenario_problem(&s, &in, &why))
            fail_msg("%s: %s", runs[i].line, why.text);
        check_run(i, &s, &in);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

/* B 2, Hq 3, Nq 4, D 5; or two packed sequences of 1 and 3 queries. */
static void make_problem(struct problem *p, bool packed)
{
    const int64_t q_shape[4] = {packed ? 1 : 2, 3, 4, 5}, cu[3] = {0, 1, 4};
    const int64_t k_shape[4] = {packed ? 1 : 2, 1, 4, 5};
    struct tensor q, k, v;
    struct message why;
    struct problem_options options = problem_defaults();
    assert_true(tensor_new(&q, FORMAT_FP32, 4, q_shape, &why));
    assert_true(tensor_new(&k, FORMAT_FP32, 4, k_shape, &why));
    assert_true(tensor_new(&v, FORMAT_FP32, 4, k_shape, &why));
    if (packed) {
        options.cu_q = cu;
        options.sequences = 2;
    }
    assert_true(problem_new(p, &q, &k, &v, &options, &why));
}

static const struct {
    const char *line;
    bool packed;
    const char *rows; /* batch.head.position, in order */
    int dims;
} selections[] = {
    {"flashulp exact fa2-4 --batch 1 --heads 0,2 --rows 1-2", false,
     "1.0.1 1.0.2 1.2.1 1.2.2 ", 5},
    {"flashulp exact fa2-4 --heads 1 --rows 3 --dims 0,4", false, "0.1.3 1.1.3 ", 2},
    {"flashulp exact fa2-4 --heads 0", true, "0.0.0 0.0.1 0.0.2 0.0.3 ", 5},
    {"flashulp exact fa2-4 --heads 0-1", true, "0.0.0 0.0.1 0.0.2 0.0.3 0.1.0 0.1.1 0.1.2 0.1.3 ",
     5},
    {"flashulp exact fa2-4 --batch 1 --rows 0", true, "0.0.1 0.1.1 0.2.1 ", 5},
    {"flashulp exact fa2-4 --batch 1 --sample 100 --rows 2", true, "0.0.3 0.1.3 0.2.3 ", 5},
};

static void test_selections(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof selections / sizeof selections[0]; i++) {
        struct problem p;
        struct scenario s;
        struct selection selection;
        struct message why;
        char rows[256] = "";
        make_problem(&p, selections[i].packed);
        assert_true(parse_line(selections[i].line, &s, &why));
        if (!scenario_select(&s, &p, &selection, &why))
            fail_msg("%s: %s", selections[i].line, why.text);
        for (int64_t n = 0; n < selection.rows; n++) {
            struct head h = problem_head(&p, selection.unit[n]);
            snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%d.%d.%d ", (int)h.batch,
                     (int)h.head, (int)(h.q0 + selection.row[n]));
        }
        assert_string_equal(rows, selections[i].rows);
        assert_int_equal(selection.dims, selections[i].dims);
        assert_int_equal(selection.rows_total, selections[i].packed ? 12 : 24);
        selection_free(&selection);
        scenario_free(&s);
        problem_free(&p);
    }
}

/* Drawn rows: as many as asked, in order, another seed another draw, the same seed the same. */
static void test_sample(void **state)
{
    (void)state;
    static const char *const draws[3] = {"flashulp exact fa2-4 --sample 5",
                                         "flashulp exact fa2-4 --sample 5 --sample-seed 1",
                                         "flashulp exact fa2-4 --sample 5 --sample-seed 2"};
    int64_t key[3] = {0};
    struct problem p;
    make_problem(&p, false);
    for (int i = 0; i < 3; i++) {
        struct scenario s;
        struct selection selection;
        struct message why;
        assert_true(parse_line(draws[i], &s, &why));
        assert_true(scenario_select(&s, &p, &selection, &why));
        assert_int_equal(selection.rows, 5);
        for (int64_t n = 0, last = -1; n < 5; n++) {
            int64_t at = selection.unit[n] * 4 + selection.row[n];
            assert_true(at > last);
            last = at;
            key[i] = key[i] * 24 + at;
        }
        selection_free(&selection);
        scenario_free(&s);
    }
    assert_int_equal(key[0], key[1]);
    assert_int_not_equal(key[0], key[2]);
    problem_free(&p);
}

static const struct {
    const char *line, *sentence;
} bad_selections[] = {
    {"flashulp exact fa2-4 --heads 3", "--heads 3: numbers from 0 to 2 and ranges of them are right"},
    {"flashulp exact fa2-4 --rows 1-9", "--rows 1-9: numbers from 0 to 3 and ranges of them are right"},
    {"flashulp exact fa2-4 --rows 2-1", "--rows 2-1: numbers from 0 to 3 and ranges of them are right"},
    {"flashulp exact fa2-4 --dims 1,,2", "--dims 1,,2: a list such as 0,2-4 is right"},
    {"flashulp exact fa2-4 --dims all", "--dims all: a list such as 0,2-4 is right"},
    {"flashulp exact fa2-4 --sample 0",
     "--sample 0: a whole number from 1 to 9223372036854775807 is right"},
    {"flashulp exact fa2-4 --sample-seed 3", "--sample-seed goes with --sample N"},
};

static void test_bad_selections(void **state)
{
    (void)state;
    struct problem p;
    make_problem(&p, false);
    for (size_t i = 0; i < sizeof bad_selections / sizeof bad_selections[0]; i++) {
        struct scenario s;
        struct selection selection;
        struct message why;
        assert_true(parse_line(bad_selections[i].line, &s, &why));
        if (scenario_select(&s, &p, &selection, &why))
            fail_msg("%s was taken", bad_selections[i].line);
        assert_string_equal(why.text, bad_selections[i].sentence);
        scenario_free(&s);
    }
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_printed_as_typed),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_runs),           cmocka_unit_test(test_selections),
        cmocka_unit_test(test_sample),         cmocka_unit_test(test_bad_selections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
