//! The fluid model of DCQCN: Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and
//! TIMELY, CoNEXT 2016: its model of DCQCN and the theorem on its fixed point, for N flows in one
//! state.
//!
//! Rates are in packets a second and the queue is in packets, as marks are per packet. A packet is
//! a frame with preamble and gap, so that N fair shares fill the link.

/// Bytes of a frame with FCS: 1,024 of payload behind Ethernet (14), IPv4 (20), UDP (8) and BTH
/// (12), with ICRC (4) and FCS (4).
pub(super) const FRAME: f64 = 1086.0;

/// Bits on the wire for each: preamble, start delimiter and gap take 20 bytes more.
pub(super) const PACKET_BITS: f64 = (FRAME + 20.0) * 8.0;

/// The link [bit/s].
pub(super) const LINK: f64 = 40e9;

/// `C` [packets/s].
const CAPACITY: f64 = LINK / PACKET_BITS;

/// `R_AI` [packets/s]: 40 Mb/s.
const ADDITIVE_INCREASE: f64 = 40e6 / PACKET_BITS;

/// `tau`: the least time between two CNPs [s].
pub(super) const CNP_INTERVAL: f64 = 50e-6;

/// `tau'`: after which alpha decays [s].
pub(super) const ALPHA_INTERVAL: f64 = 55e-6;

/// `T` [s].
pub(super) const INCREASE_TIMER: f64 = 55e-6;

/// `B` [packets]: 10 MB.
const BYTE_COUNTER: f64 = 10e6 / FRAME;

/// `F`.
const FAST_RECOVERY: f64 = 5.0;

/// `g`.
pub(super) const GAIN: f64 = 1.0 / 256.0;

/// Marking [bytes; at Kmax, a probability], as in `scenarios/dcqcn-stability.toml`.
pub(super) const KMIN: f64 = 5_000.0;
const KMAX: f64 = 3_905_000.0;
const PMAX: f64 = 0.2;

/// Pauses keep the queue from growing further [bytes]; of matter in the first milliseconds only.
pub(super) const BUFFER: f64 = 16e6;

/// A fair share [packets/s].
pub(super) fn fair_share(flows: u32) -> f64 {
    CAPACITY / f64::from(flows)
}

/// How much of the queue is above Kmin [bytes] where packets are marked with probability `p`.
pub(super) fn queue_above_kmin(p: f64) -> f64 {
    p / PMAX * (KMAX - KMIN)
}

/// With what probability a packet is marked that finds `queue` bytes.
pub(super) fn marking_probability(queue: f64) -> f64 {
    match queue {
        short if short <= KMIN => 0.0,
        long if long > KMAX => 1.0,
        between => (between - KMIN) / (KMAX - KMIN) * PMAX,
    }
}

/// What happens to a flow of `rate` packets a second of which a share `p` is marked.
struct Feedback {
    /// `a`: probability of a CNP in `tau`.
    cut: f64,
    /// What alpha tends to: probability of a CNP in `tau'`.
    alpha: f64,
    /// `b + d`: increases for each packet.
    increases: f64,
    /// `c + e`: those for each packet that raise the target rate.
    additive: f64,
}

fn feedback(p: f64, rate: f64) -> Feedback {
    let timer = INCREASE_TIMER * rate;
    if p <= 0.0 {
        let increases = 1.0 / BYTE_COUNTER + 1.0 / timer;
        return Feedback { cut: 0.0, alpha: 0.0, increases, additive: increases };
    }
    // ln(1 - p), and (1 - p)^n = exp(n log_miss).
    let log_miss = libm::log1p(-p.min(0.999_999));
    let by = |packets: f64| p / libm::expm1(-packets * log_miss);
    let after_recovery = |packets: f64| libm::exp(FAST_RECOVERY * packets * log_miss);
    Feedback {
        cut: -libm::expm1(CNP_INTERVAL * rate * log_miss),
        alpha: -libm::expm1(ALPHA_INTERVAL * rate * log_miss),
        increases: by(BYTE_COUNTER) + by(timer),
        additive: by(BYTE_COUNTER) * after_recovery(BYTE_COUNTER)
            + by(timer) * after_recovery(timer),
    }
}

/// `p*`: the marking probability at which N flows fill the link. With the derivatives of rate and
/// target rate at zero,
///
/// ```text
/// a^2 alpha / ((b + d) (c + e)) = tau^2 R_AI C / N
/// ```
///
/// of which the left side rises with p from 0.
pub(super) fn fixed_point(flows: u32) -> f64 {
    let rate = fair_share(flows);
    let right = CNP_INTERVAL * CNP_INTERVAL * ADDITIVE_INCREASE * rate;
    let left = |p: f64| {
        let Feedback { cut, alpha, increases, additive } = feedback(p, rate);
        cut * cut * alpha / (increases * additive)
    };
    let (mut low, mut high) = (1e-7f64, 0.5f64);
    while high / low > 1.0 + 1e-12 {
        let middle = (low * high).sqrt();
        if left(middle) < right { low = middle } else { high = middle }
    }
    low
}

/// Mean of the queue [bytes] and its standard deviation as a share of that, over the second half of
/// 200 ms that all flows begin at the line rate; `delay` is that of the control loop [s].
pub(super) fn oscillation(flows: u32, delay: f64) -> (f64, f64) {
    const STEP: f64 = 1e-6;
    const STEPS: usize = 200_000;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
    let delay_steps = (delay / STEP) as usize;
    let buffer = BUFFER / FRAME;
    let (mut rate, mut target, mut alpha, mut queue) = (CAPACITY, CAPACITY, 1.0, 0.0f64);
    let mut past: Vec<(f64, f64)> = Vec::with_capacity(STEPS);
    for step in 0..STEPS {
        past.push((queue, rate));
        let heard_of = step.checked_sub(delay_steps).map(|step| past[step]);
        let (old_queue, old_rate) = heard_of.unwrap_or((0.0, CAPACITY));
        let p = marking_probability(old_queue * FRAME);
        let seen = feedback(p, old_rate);
        let rise = (target - rate) * old_rate * seen.increases / 2.0;
        let cut = rate * alpha * seen.cut / (2.0 * CNP_INTERVAL);
        let target_rise = ADDITIVE_INCREASE * old_rate * seen.additive;
        let target_cut = (target - rate) * seen.cut / CNP_INTERVAL;
        rate = (rate + (rise - cut) * STEP).clamp(1.0, CAPACITY);
        target = (target + (target_rise - target_cut) * STEP).clamp(rate, CAPACITY);
        alpha += GAIN / ALPHA_INTERVAL * (seen.alpha - alpha) * STEP;
        queue = (queue + (f64::from(flows) * rate - CAPACITY) * STEP).clamp(0.0, buffer);
    }
    let settled = &past[STEPS / 2..];
    let mean = settled.iter().map(|(queue, _)| queue).sum::<f64>() / settled.len() as f64;
    let squares: f64 = settled.iter().map(|(queue, _)| (queue - mean) * (queue - mean)).sum();
    let deviation = (squares / settled.len() as f64).sqrt();
    (mean * FRAME, deviation / mean)
}
