/* Congestion controls for the simulator rocelab, in C: ABI 1.

   A module exports its memory and four functions. Before each call of rl_event the simulator writes the whole block, and after it
   reads answers and state. All numbers are little endian; times are picoseconds since the start of the run, rates bit/s, sizes bytes.

   Nothing may be kept between two calls but `state`: no global variable, no memory of its own. The simulator refuses a module that
   does. Tables that never change are fine. */
#ifndef ROCELAB_CC_H
#define ROCELAB_CC_H

typedef unsigned int rl_u32;
typedef unsigned long long rl_u64;
typedef long long rl_i64;

/* No time, and no limit. */
#define RL_NEVER 0xffffffffffffffffull

/* The argument of rl_event: what happened, and what of the block is about it beside now_ps. */
enum {
  RL_OPEN = 0,  /* a queue pair starts: the state is zero, and a rate has to be set */
  RL_ACK = 1,   /* something was acknowledged: acked, acknowledged, sent, rtt_ps, flags */
  RL_CNP = 2,   /* a CNP arrived */
  RL_CNM = 3,   /* a notification of a switch arrived: value is its feedback, 0 to 63 */
  RL_SENT = 4,  /* a data packet leaves: bytes is its frame with FCS. Only if metadata ask for it */
  RL_LOSS = 5,  /* something is sent again: flags */
  RL_TIMER = 6  /* timer number `value` expired: it is armed for later, or stopped, in this call */
};

/* Bits of flags. */
enum {
  RL_IN_ECN = 1,     /* the receiver saw congestion */
  RL_IN_TIMEOUT = 2, /* a timeout told of the loss */
  RL_IN_RTT = 4,     /* there is a round-trip time; without it rtt_ps is RL_NEVER */
  RL_IN_ENDPOINT = 8 /* of RL_ACK with feedback "endpoint": bytes is endpoint delay << 32 | time in NICs, both in ns, value is hops */
};

/* Bits of out_flags, which are 0 before each call. */
enum { RL_OUT_REPACE = 1 /* the rate counts for the packet that waits already */ };

struct rl_block {
  /* 0: what happened */
  rl_u64 now_ps, acked, acknowledged, sent, rtt_ps, bytes;
  rl_u32 flags, value;
  /* 56: the path of the queue pair */
  rl_u64 line_bps, base_rtt_ps, bdp, seed;
  rl_u32 mtu, hops;
  /* 96: the answers, as they stand and as they shall be. The rate counts preamble and gap of frames, 1 to 2^63; the window counts
     payload, at least 1, RL_NEVER for none; a timer that is moved expires after now_ps, RL_NEVER stops it */
  rl_u64 rate_bps, window, timer_ps[3];
  rl_u32 out_flags, pad;
  /* 144: values of the parameters, in the order and the units of the metadata */
  rl_i64 parameter[16];
  /* 272: not used by ABI 1 */
  rl_u64 reserved[32];
  /* 528: the state of the queue pair, as many bytes as the metadata say */
  unsigned char state[256];
};

_Static_assert(sizeof(struct rl_block) == 784, "the layout of ABI 1");

#define RL_EXPORT(name) __attribute__((export_name(#name)))

/* Defines the block `name`, and the functions that tell where it and the metadata are. */
#define RL_MODULE(name, metadata)                                                                              \
  static struct rl_block name;                                                                                 \
  static const char name##_metadata[] = metadata;                                                              \
  RL_EXPORT(rl_abi) rl_u32 rl_abi(void) { return 1; }                                                          \
  RL_EXPORT(rl_meta) rl_u64 rl_meta(void) {                                                                    \
    return (rl_u64)(rl_u32)name##_metadata << 32 | (sizeof name##_metadata - 1);                               \
  }                                                                                                            \
  RL_EXPORT(rl_block) rl_u32 rl_block_address(void) { return (rl_u32)&name; }

#endif
