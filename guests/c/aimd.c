/* Additive increase, multiplicative decrease, by the ECN echo of acknowledgements.

   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=4096 -o aimd.wasm aimd.c */
#include "rocelab_cc.h"

RL_MODULE(block,
          "{\"abi\": 1, \"name\": \"aimd\", \"summary\": \"halves the rate on a mark, else adds a step\","
          " \"feedback\": \"ecn-echo\", \"state\": 8, \"parameters\": ["
          "{\"key\": \"increase\", \"summary\": \"added to the rate by an acknowledgement without a mark\","
          " \"unit\": \"bit/s\", \"default\": 50000000, \"min\": 1, \"max\": 1000000000000},"
          "{\"key\": \"least\", \"summary\": \"the rate does not fall below\","
          " \"unit\": \"bit/s\", \"default\": 100000000, \"min\": 1, \"max\": 1000000000000}]}")

/* What is kept of each queue pair. */
struct state {
  rl_u64 no_cut_before_ps;
};

RL_EXPORT(rl_event) void rl_event(rl_u32 kind) {
  struct state *state = (struct state *)block.state;
  rl_u64 increase = block.parameter[0], least = block.parameter[1];
  if (kind == RL_OPEN) {
    block.rate_bps = block.line_bps;
    block.window = RL_NEVER;
  }
  if (kind != RL_ACK) return;
  if (!(block.flags & RL_IN_ECN)) {
    block.rate_bps += increase;
    if (block.rate_bps > block.line_bps) block.rate_bps = block.line_bps;
  } else if (block.now_ps >= state->no_cut_before_ps) {
    block.rate_bps /= 2;
    if (block.rate_bps < least) block.rate_bps = least;
    state->no_cut_before_ps = block.now_ps + block.base_rtt_ps;
  }
}
