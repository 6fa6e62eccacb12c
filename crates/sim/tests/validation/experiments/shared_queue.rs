//! Several reaction points of DCQCN and the queue that they share, without packets.
//!
//! Each keeps the algorithm's rules ([`reaction_point`](super::reaction_point)); the queue is a
//! fluid. This is what stands between the fluid model and the simulator, and it can take the one's
//! feedback or the other's: the fluid model hears of the queue and of its own rate after a constant
//! delay, but packets leave a queue as they came, in order, so that a packet with a mark was sent
//! one waiting time earlier, at the rate that its flow had then.

use std::collections::VecDeque;

use rocelab_engine::RngStream;

use super::fluid::{BUFFER, FRAME, LINK, PACKET_BITS, marking_probability};
use super::queue::Samples;
use super::reaction_point::Flow;

/// Seconds.
const STEP: f64 = 1e-6;

/// Steps from one sample of the queue to the next.
const SAMPLE: usize = 10;

/// What flows hear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Marks {
    /// Of queue and rates a constant delay ago, as in the fluid model.
    AfterConstantDelay,
    /// Of the queue when a packet leaves; the packet was sent one waiting time earlier.
    AtDeparture,
    /// Of the queue when a packet comes, as from the simulator's switches.
    AtArrival,
}

/// Bytes of frames that leave in a second; the link is full with them and their preambles and gaps.
const FRAMES: f64 = LINK / PACKET_BITS * FRAME;

/// The queue at an instant [bytes], and who sends at what rate [bit/s].
struct Moment {
    queue: f64,
    rates: Vec<f64>,
    sum: f64,
}

/// The moments from the one on in which came what leaves now.
#[derive(Default)]
struct Past {
    moments: VecDeque<Moment>,
    /// Step of the first of them.
    came: usize,
}

impl Past {
    /// Goes on to what leaves at `step`.
    fn forget_until(&mut self, step: usize) {
        let leaves = |came: usize, moment: &Moment| came as f64 + moment.queue / FRAMES / STEP;
        while self.came < step && leaves(self.came + 1, &self.moments[1]) <= step as f64 {
            self.came += 1;
            self.moments.pop_front();
        }
    }

    /// How many packets with a mark of each flow leave in `step`, on average.
    fn marked(&self, marks: Marks, step: usize) -> impl Iterator<Item = f64> {
        let [came, leaves] = [&self.moments[0], &self.moments[step - self.came]];
        let looked_at = if marks == Marks::AtArrival { came } else { leaves };
        let sent_in = if marks == Marks::AfterConstantDelay { leaves } else { came };
        // The link is full as long as something waited.
        let leaving = match marks {
            Marks::AfterConstantDelay => 1.0,
            _ if came.queue > 0.0 => LINK / came.sum,
            _ => (LINK / came.sum).min(1.0),
        };
        let share = marking_probability(looked_at.queue) * leaving * STEP / PACKET_BITS;
        sent_in.rates.iter().map(move |rate| rate * share)
    }
}

/// Samples of the queue [bytes] in the later 60 % of `milliseconds`, each 10 us; all flows begin at
/// the line rate, and `delay` is that of the control loop [s].
pub(super) fn samples(
    flows: u32,
    delay: f64,
    marks: Marks,
    seed: u64,
    milliseconds: usize,
) -> Samples {
    let mut dice = RngStream::new(seed, "marks");
    let mut points: Vec<Flow> = (0..flows).map(|_| Flow::new(LINK, 1.0)).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
    let delay_steps = (delay / STEP) as usize;
    let steps = milliseconds * 1_000;
    let mut samples = Vec::new();
    let mut past = Past::default();
    let mut queue = 0.0f64;
    for step in 0..steps {
        let now = step as f64 * STEP;
        let rates: Vec<f64> = points.iter().map(Flow::sending_rate).collect();
        let sum = rates.iter().sum();
        past.moments.push_back(Moment { queue, rates, sum });
        if let Some(left) = step.checked_sub(delay_steps) {
            past.forget_until(left);
            for (point, marked) in points.iter_mut().zip(past.marked(marks, left)) {
                if dice.uniform() < marked {
                    point.marked(now);
                }
            }
        }
        points.iter_mut().for_each(|point| point.send(now, STEP));
        let arriving: f64 = points.iter().map(Flow::sending_rate).sum();
        queue = (queue + (arriving - LINK) / LINK * FRAMES * STEP).clamp(0.0, BUFFER);
        if step >= steps * 2 / 5 && step % SAMPLE == 0 {
            samples.push(queue);
        }
    }
    Samples::new(samples)
}
