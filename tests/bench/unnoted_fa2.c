/* unnoted_fa2.c: FlashAttention-2 once more, under another name and without its notes: what it
   would cost if no trace could ever be kept.  For bench_trace only. */
#define flash_attention_2 unnoted_fa2
#define state_new unnoted_state_new
#define state_own unnoted_state_own
#define state_empty unnoted_state_empty
#define state_meet unnoted_state_meet
#define state_begin unnoted_state_begin
#define state_enter unnoted_state_enter
#define scale_scores unnoted_scale_scores
#define scores unnoted_scores
#define hide_unseen unnoted_hide_unseen
#define divide_summed unnoted_divide_summed
#define settle_rows unnoted_settle_rows
#define conclude unnoted_conclude
#define finish unnoted_finish
#include "simulator/algorithms/state.h"
#define note(r, step, t) ((void)0)
#include "simulator/algorithms/state.c"
#include "simulator/algorithms/fa2.c"
