/* test_ptx.c: the executor of PTX on small texts: values of single instructions by hand; lanes that
   part and meet; barriers and late copies under both orders of warps; what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/emulator/device.h"
#include "gpu/ptx/ptx.h"
#include "simulator/splitmix.h"

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_80\n.address_size 64\n.extern .shared .align 128 .b8 shared[];\n"    \
    ".entry k(\n.param .u64 k_param_0\n)\n{\n"                                                     \
    ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<32>;\n.reg .f32 %f<9>;\n"                  \
    ".reg .b64 %rd<9>;\nld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\n"                   \
    "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
#define TAIL "st.global.u32 [%rd3], %r9;\nret;\n}\n"

static char path[] = "/tmp/flashulp-ptx-XXXXXX";

static bool read_text(struct ptx_module *m, const char *text, size_t length, struct message *why)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fwrite(text, 1, length, to);
    fclose(to);
    *m = (struct ptx_module){NULL, 0};
    return ptx_read(m, path, why);
}

/* Runs `body` between HEAD and TAIL in one block; out: %r9 of each thread. */
static bool run_body(const char *body, int threads, const struct ptx_launch *how, uint32_t *out,
                     struct message *why)
{
    char text[4096];
    struct ptx_module m;
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    bool ran = read_text(&m, text, strlen(text), why);
    if (ran) {
        size_t bytes = (size_t)threads * 4;
        unsigned char *device = dev_alloc(bytes);
        struct ptx_launch launch = *how;
        launch.kernel = ptx_find(&m, "k");
        launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
        launch.block[0] = (unsigned)threads;
        launch.block[1] = launch.block[2] = 1;
        launch.params = (const unsigned char *)&device;
        launch.shared_bytes = 1024;
        ran = ptx_run(&launch, why);
        dev_copy_out(out, device, bytes);
        dev_free(device);
    }
    ptx_free(&m);
    return ran;
}

static const struct ptx_launch plain;

/* PTX ISA, each instruction's own section. */
static void single_instructions_have_their_values(void **state)
{
    static const struct {
        const char *body;
        uint32_t want;
    } rows[] = {
        {"add.s32 %r9, -1, 3;\n", 2},
        {"mul.lo.s32 %r9, -3, 5;\n", 0xFFFFFFF1},
        {"mad.lo.s32 %r9, 7, 6, -2;\n", 40},
        {"div.s32 %r9, -7, 2;\n", 0xFFFFFFFD},
        {"shl.b32 %r9, 1, 32;\n", 0},
        {"shr.u32 %r9, -1, 28;\n", 15},
        {"shr.s32 %r9, -16, 40;\n", 0xFFFFFFFF},
        {"bfi.b32 %r9, 5, -1, 4, 4;\n", 0xFFFFFF5F},
        {"mov.u32 %r2, 65535;\ncvt.u16.u32 %rs1, %r2;\nmov.b16 %rs2, 2;\n"
         "mov.b32 %r9, {%rs1, %rs2};\n",
         0x0002FFFF},
        {"mov.b32 {%rs1, %rs2}, 305419896;\nmov.b32 %r9, {%rs2, %rs1};\n", 0x56781234},
        {"setp.lt.s32 %p1, -1, 1;\nselp.b32 %r9, 7, 8, %p1;\n", 7},
        {"setp.lt.u32 %p1, -1, 1;\nselp.b32 %r9, 7, 8, %p1;\n", 8},
        {"setp.lt.f32 %p1, 0f7FC00000, 0f3F800000;\nselp.b32 %r9, 7, 8, %p1;\n", 8},
        {"setp.ltu.f32 %p1, 0f7FC00000, 0f3F800000;\nselp.b32 %r9, 7, 8, %p1;\n", 7},
        {"setp.ne.f32 %p1, 0f7FC00000, 0f3F800000;\nselp.b32 %r9, 7, 8, %p1;\n", 8},
        {"setp.neu.f32 %p1, 0f7FC00000, 0f3F800000;\nselp.b32 %r9, 7, 8, %p1;\n", 7},
        {"max.f32 %f1, 0f80000000, 0f00000000;\nmov.b32 %r9, %f1;\n", 0},
        {"max.f32 %f1, 0f7FC00000, 0fBF800000;\nmov.b32 %r9, %f1;\n", 0xBF800000},
        {"sub.rn.f32 %f1, 0f7F800000, 0f7F800000;\nmov.b32 %r9, %f1;\n", 0x7FFFFFFF},
        /* (1 + 2^-23)^2 - 1 - 2^-22: 2^-46 where fused, else 0 */
        {"fma.rn.f32 %f1, 0f3F800001, 0f3F800001, 0fBF800002;\nmov.b32 %r9, %f1;\n", 0x28800000},
        {"mul.rn.f32 %f1, 0f3F800001, 0f3F800001;\nadd.rn.f32 %f1, %f1, 0fBF800002;\n"
         "mov.b32 %r9, %f1;\n",
         0},
        /* the first source is the upper half; 1 + 2^-8 is a tie and goes to 1, 1 + 3 2^-8 up */
        {"cvt.rn.bf16x2.f32 %r9, 0f3F808000, 0f3F818000;\n", 0x3F803F82},
        {"cvt.rn.bf16x2.f32 %r9, 0fFFC00000, 0f7F7FFFFF;\n", 0x7FFF7F80},
        {"cvt.rn.f16.f32 %rs1, 0f477FF000;\ncvt.u32.u16 %r9, %rs1;\n", 0x7C00},
        {"cvt.rn.f16.f32 %rs1, 0f33000001;\ncvt.u32.u16 %r9, %rs1;\n", 1},
        {"mov.b16 %rs1, 1;\ncvt.f32.f16 %f1, %rs1;\nmov.b32 %r9, %f1;\n", 0x33800000},
        {"cvt.rn.f32.s32 %f1, 16777217;\nmov.b32 %r9, %f1;\n", 0x4B800000},
        {"mul.wide.s32 %rd4, -2, 3;\nshr.u64 %rd4, %rd4, 32;\ncvt.u32.u64 %r9, %rd4;\n",
         0xFFFFFFFF},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t out[1] = {0};
        struct message why = {""};
        if (!run_body(rows[i].body, 1, &plain, out, &why) || out[0] != rows[i].want)
            fail_msg("%s gives %08x, want %08x %s", rows[i].body, (unsigned)out[0],
                     (unsigned)rows[i].want, why.text);
    }
}

/* Lane n goes round n + 1 times; then the lanes exchange what they counted. */
static void lanes_part_and_meet(void **state)
{
    static const char body[] = "mov.u32 %r2, 0;\n$L1:\nadd.s32 %r2, %r2, 1;\n"
                               "setp.le.s32 %p1, %r2, %r1;\n@%p1 bra $L1;\n"
                               "shfl.sync.bfly.b32 %r9|%p2, %r2, 1, 31, -1;\n";
    uint32_t out[32];
    struct message why = {""};
    (void)state;
    if (!run_body(body, 32, &plain, out, &why))
        fail_msg("%s", why.text);
    for (uint32_t n = 0; n < 32; n++)
        assert_int_equal(out[n], (n ^ 1) + 1);
}

/* Is there a lane, of all or of a half that goes its own way, with number 20? */
static void lanes_vote(void **state)
{
    static const char body[] = "setp.eq.s32 %p1, %r1, 20;\nvote.sync.any.pred %p2, %p1, -1;\n"
                               "selp.b32 %r2, 10, 0, %p2;\nsetp.lt.s32 %p3, %r1, 16;\n"
                               "mov.u32 %r3, -65536;\n@%p3 bra $L1;\nbra.uni $L2;\n"
                               "$L1:\nmov.u32 %r3, 65535;\n$L2:\n"
                               "vote.sync.any.pred %p2, %p1, %r3;\n"
                               "selp.b32 %r9, 1, 0, %p2;\nadd.s32 %r9, %r9, %r2;\n";
    uint32_t out[32];
    struct message why = {""};
    (void)state;
    if (!run_body(body, 32, &plain, out, &why))
        fail_msg("%s", why.text);
    for (uint32_t n = 0; n < 32; n++)
        assert_int_equal(out[n], n < 16 ? 10 : 11);
}

/* The way of the even lanes lies behind the place where all meet: __syncwarp waits for them. */
static void lanes_that_go_backwards_are_waited_for(void **state)
{
    static const char body[] =
        "mov.u32 %r4, shared;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r3, %r3, %r4;\n"
        "xor.b32 %r5, %r3, 4;\nand.b32 %r2, %r1, 1;\nsetp.eq.s32 %p1, %r2, 0;\n"
        "@%p1 bra $L2;\nst.shared.u32 [%r3], %r1;\nbra.uni $L1;\n"
        "$L1:\nbar.warp.sync -1;\nld.shared.u32 %r9, [%r5];\nbra.uni $L3;\n"
        "$L2:\nst.shared.u32 [%r3], %r1;\nbra.uni $L1;\n$L3:\n";
    uint32_t out[32];
    struct message why = {""};
    (void)state;
    if (!run_body(body, 32, &plain, out, &why))
        fail_msg("%s", why.text);
    for (uint32_t n = 0; n < 32; n++)
        assert_int_equal(out[n], n ^ 1);
}

/* Each of two warps reads what the other wrote before the barrier, whoever runs first; without it
   the first one reads the pattern that shared memory starts with. */
static void barriers_hold_in_both_orders(void **state)
{
    static const char before[] = "mov.u32 %r4, shared;\nshl.b32 %r3, %r1, 2;\n"
                                 "add.s32 %r3, %r3, %r4;\nst.shared.u32 [%r3], %r1;\n";
    static const char after[] = "xor.b32 %r5, %r3, 128;\nld.shared.u32 %r9, [%r5];\n";
    char body[512];
    uint32_t out[64];
    struct message why = {""};
    (void)state;
    for (int order = PTX_ASCENDING; order <= PTX_DESCENDING; order++)
        for (int barrier = 0; barrier <= 1; barrier++) {
            struct ptx_launch how = {.warps = (enum ptx_order)order};
            snprintf(body, sizeof body, "%s%s%s", before, barrier ? "bar.sync 0;\n" : "", after);
            if (!run_body(body, 64, &how, out, &why))
                fail_msg("%s", why.text);
            uint32_t first = order == PTX_ASCENDING ? 0 : 32;
            for (uint32_t n = 0; n < 64; n++)
                assert_int_equal(out[n], barrier || (n & 32) != first ? n ^ 32 : UINT32_MAX);
        }
}

/* Sixteen bytes of the output's start, 8 of them and zeros, into shared memory: there after the
   wait; before it, where copies are late, all ones. */
static void copies_are_there_after_the_wait(void **state)
{
    static const char copy[] = "st.global.u32 [%rd3], 77;\nmov.u32 %r4, shared;\n"
                               "cp.async.cg.shared.global [%r4], [%rd1], 16, 4;\n"
                               "cp.async.commit_group;\n";
    static const char read[] = "ld.shared.v2.u32 {%r9, %r8}, [%r4];\nadd.s32 %r9, %r9, %r8;\n";
    static const struct {
        const char *wait;
        bool late;
        uint32_t want;
    } rows[] = {{"cp.async.wait_group 0;\n", false, 77},
                {"cp.async.wait_group 0;\n", true, 77},
                {"cp.async.wait_group 1;\n", true, 0xFFFFFFFE},
                {"cp.async.wait_group 1;\n", false, 77}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1024];
        uint32_t out[1];
        struct message why = {""};
        const struct ptx_launch how = {.late = rows[i].late};
        snprintf(body, sizeof body, "%s%s%s", copy, rows[i].wait, read);
        if (!run_body(body, 1, &how, out, &why))
            fail_msg("%s", why.text);
        assert_int_equal(out[0], rows[i].want);
    }
}

static void assert_refused(const char *body, int threads, const char *words, const char *also)
{
    uint32_t out[32];
    struct message why = {""};
    bool ran = run_body(body, threads, &plain, out, &why);
    if (ran || strstr(why.text, words) == NULL || strstr(why.text, also) == NULL)
        fail_msg("%s: %s, want %s%s", body, ran ? "ran" : why.text, words, also);
}

static void wrong_runs_are_stopped(void **state)
{
    static const struct {
        const char *body, *words;
    } rows[] = {
        {"mov.u32 %r4, shared;\nld.shared.u32 %r9, [%r4+1024];\n", "outside the block's shared"},
        {"mov.u32 %r4, shared;\nld.shared.u32 %r9, [%r4+2];\n", "not aligned"},
        {"ld.global.u32 %r9, [%rd1+128];\n", "outside the device's memory"},
        {"ld.global.u32 %r9, [%rd1+2];\n", "not aligned"},
        {"ld.param.u32 %r9, [k_param_0+8];\n", "outside the parameters"},
        {"setp.lt.s32 %p1, %r1, 16;\n@%p1 bra $L1;\n"
         "shfl.sync.bfly.b32 %r9|%p2, %r1, 1, 31, -1;\nbra.uni $L2;\n"
         "$L1:\nmov.u32 %r9, 0;\nbar.sync 0;\n$L2:\n",
         "waits for lanes of its warp that do not come"},
        {"setp.lt.s32 %p1, %r1, 16;\n@%p1 bra $L1;\nret;\n"
         "$L1:\nmov.u32 %r4, shared;\nldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8, %r9}, "
         "[%r4];\n",
         "needs all 32 lanes"},
        {"$L1:\nadd.s32 %r9, %r9, 1;\nbra.uni $L1;\n", "does not come to an end"},
        {"shfl.sync.bfly.b32 %r9|%p2, %r1, 1, 31, 2;\n", "its members omit the lane itself"},
        {"bar.sync 3;\n", "barrier 0 is the only one"},
        {"trap;\n", "gives up"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(rows[i].body, 32, rows[i].words, ", lane ");
}

static void what_is_not_known_is_refused(void **state)
{
    static const struct {
        const char *body, *words;
    } rows[] = {
        {"tanh.approx.f32 %f1, %f1;\n", ":18: this instruction is not known here: tanh.approx.f32"},
        {"add.s32 %r9, %r1;\n", "this instruction is not known here: add.s32"},
        {"add.s32 %r9, {%r1, %r2};\n", "this instruction is not known here: add.s32"},
        {"mov.b32 %r9, %rs1, %rs2;\n", "this instruction is not known here: mov.b32"},
        {"add.s32 %r99, %r1, 1;\n", "this operand is not known here: %r99"},
        {"add.s32 %x1, %r1, 1;\n", "this operand is not known here: %x1"},
        {"add.s32 5, %r1, 1;\n", "the result is no register"},
        {"add.s32 %r9, [%r1], 1;\n", "an address stands where none belongs"},
        {"ld.global.u32 %r9, %rd1;\n", "an address stands where none belongs"},
        {"ld.global.u24 %r9, [%rd1];\n", "this instruction is not known here: ld.global.u24"},
        {"ld.local.u32 %r9, [%rd1];\n", "this instruction is not known here: ld.local.u32"},
        {"@%r9 bra;\n", "no instruction follows this label"},
        {"bra $L7;\n", "no instruction follows this label: $L7"},
        {"mov.b32 {%rs1, %rs2, %r9;\n", "a brace is missing"},
        {"add.s32 %r9, %r1, 1\n", "this line is not known here"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(rows[i].body, 1, rows[i].words, path);
}

/* Bytes changed and lost: read or refused with the file's name, no more. */
static void damaged_text_is_read_or_refused(void **state)
{
    static const char good[] =
        HEAD "setp.lt.s32 %p1, %r1, 16;\n@%p1 bra $L1;\nmov.b32 {%rs1, %rs2}, %r1;\n"
             "$L1:\nld.global.v2.u32 {%r2, %r3}, [%rd1+8];\nmax.f32 %f1, %f2, 0fFF800000;\n" TAIL;
    uint64_t seed = 1;
    int refused = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char text[sizeof good];
        size_t length = sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (int n = 0; n < 3; n++)
            text[splitmix_next(&seed) % length] = (char)(splitmix_next(&seed) % 96 + 32);
        if (round % 4 == 0)
            length = splitmix_next(&seed) % length;
        struct ptx_module m;
        struct message why = {""};
        if (!read_text(&m, text, length, &why)) {
            refused++;
            assert_non_null(strstr(why.text, path));
        }
        ptx_free(&m);
    }
    assert_true(refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_instructions_have_their_values),
        cmocka_unit_test(lanes_part_and_meet),
        cmocka_unit_test(lanes_vote),
        cmocka_unit_test(lanes_that_go_backwards_are_waited_for),
        cmocka_unit_test(barriers_hold_in_both_orders),
        cmocka_unit_test(copies_are_there_after_the_wait),
        cmocka_unit_test(wrong_runs_are_stopped),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(damaged_text_is_read_or_refused),
    };
    close(mkstemp(path));
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
