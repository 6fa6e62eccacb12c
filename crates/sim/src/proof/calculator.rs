//! Headroom without a scenario: how much, and how many lossless classes fit into a buffer.

use std::fmt;

use rocelab_fabric::topology::{MAX_DELAY, RATES};
use rocelab_fabric::{LosslessHop, MIN_FRAME, rate_of_response, standard_response};
use rocelab_transport::PathMtu;
use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use rocelab_wire::{Encapsulation, Opcode, frame_len};
use serde::Serialize;
use thiserror::Error;

use super::HeadroomSum;

/// A switch whose ports are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadroomQuestion {
    /// Rate of every port, 1 Mbit/s to 100 Tbit/s.
    pub rate: Bandwidth,
    /// Propagation delay of every cable, one way, at most 1 s.
    pub delay: Duration,
    /// Path MTU of the lossless class: payload bytes of a full packet, one of the five sizes of
    /// [`PathMtu`].
    pub path_mtu: u32,
    /// The largest frame of any class, FCS included, that of the path MTU to 1 MB; none: that.
    pub largest_frame: Option<Bytes>,
    /// What both ends need to make and to obey a pause, at most 1 s; none: what IEEE 802.3 allows
    /// at this rate ([`standard_response`]).
    pub response: Option<Duration>,
    /// Bytes of a memory cell, 1 to 1 MB.
    pub cell: Bytes,
    /// Number of ports, at least 1.
    pub ports: u32,
    /// All memory.
    pub buffer: Bytes,
    /// The share of it that classes share, 0 to 1.
    pub shared: Ratio,
    /// What each class of each port owns beside its headroom.
    pub reserve: Bytes,
}

/// A question without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key} = {value}: {fix}")]
pub struct QuestionError {
    /// What is wrong.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What to write instead.
    pub fix: String,
}

/// What a class needs, and how many fit. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeadroomAnswer {
    /// Rate of every port (bit/s).
    pub rate_bps: u64,
    /// Propagation delay, one way (ps).
    pub delay_ps: u64,
    /// Response time (ps).
    pub response_ps: u64,
    /// The rate that IEEE 802.3 allows this time for (bit/s): the listed one next to that of the ports;
    /// none, if the time was given.
    pub response_of_rate_bps: Option<u64>,
    /// The largest frame of the class, FCS included.
    pub frame_bytes: u64,
    /// The largest frame of any class, FCS included.
    pub largest_frame_bytes: u64,
    /// A memory cell.
    pub cell_bytes: u64,
    /// Headroom of one class at one port.
    pub headroom: HeadroomSum,
    /// Number of ports.
    pub ports: u32,
    /// What one class keeps at all ports, reserves included.
    pub class_bytes: u64,
    /// All memory.
    pub buffer_bytes: u64,
    /// What is to be shared of it.
    pub shared_bytes: u64,
    /// How many lossless classes fit into the rest, at most 8.
    pub classes_that_fit: u32,
    /// The same, counted the other way.
    pub other_count: OtherCount,
}

/// What a class needs and how many fit, counted in bytes where the question was in cells, and in cells of
/// [`COMMON_CELL`] where it was in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OtherCount {
    /// A memory cell (bytes).
    pub cell_bytes: u64,
    /// What one class keeps at all ports, reserves included (bytes).
    pub class_bytes: u64,
    /// How many lossless classes fit, at most 8.
    pub classes_that_fit: u32,
}

/// The memory cell of the switches that the published counts of classes are about (bytes): see
/// `docs/headroom.md`.
pub const COMMON_CELL: Bytes = Bytes::new(208);

/// The largest frame of RoCE v2 over IPv4 with this path MTU (bytes, FCS included): a full packet
/// of an RDMA WRITE with immediate data.
pub fn frame_of_mtu(path_mtu: u32) -> Bytes {
    let opcode = Opcode::RcRdmaWriteOnlyWithImmediate;
    Bytes::new(frame_len(Encapsulation::V2Ipv4, false, opcode, path_mtu as usize) as u64)
}

impl HeadroomQuestion {
    /// The answer.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn answer(&self) -> Result<HeadroomAnswer, QuestionError> {
        self.check()?;
        let frame = frame_of_mtu(self.path_mtu);
        let ahead = self.largest_frame.unwrap_or(frame);
        let response = self.response.unwrap_or_else(|| standard_response(self.rate));
        let hop = LosslessHop {
            rate: self.rate,
            delay: self.delay,
            response,
            frame_ahead: ahead,
            largest_frame: frame,
            smallest_frame: Bytes::new(u64::from(MIN_FRAME)),
            cell: self.cell,
        };
        let headroom = HeadroomSum::from(hop.terms());
        let class_bytes = self.class(&hop);
        let shared_bytes = self.shared.of(self.buffer.get());
        let classes = |class: u64| count_classes(self.buffer.get() - shared_bytes, class);
        let is_in_cells = self.cell > Bytes::new(1);
        let other =
            LosslessHop { cell: if is_in_cells { Bytes::new(1) } else { COMMON_CELL }, ..hop };
        Ok(HeadroomAnswer {
            rate_bps: self.rate.bits_per_second(),
            delay_ps: self.delay.ps(),
            response_ps: response.ps(),
            response_of_rate_bps: self
                .response
                .is_none()
                .then(|| rate_of_response(self.rate).bits_per_second()),
            frame_bytes: frame.get(),
            largest_frame_bytes: ahead.get(),
            cell_bytes: self.cell.get(),
            headroom,
            ports: self.ports,
            class_bytes,
            buffer_bytes: self.buffer.get(),
            shared_bytes,
            classes_that_fit: classes(class_bytes),
            other_count: OtherCount {
                cell_bytes: other.cell.get(),
                class_bytes: self.class(&other),
                classes_that_fit: classes(self.class(&other)),
            },
        })
    }

    /// What one class keeps at all ports (bytes).
    fn class(&self, hop: &LosslessHop) -> u64 {
        let each = hop.terms().total().get().saturating_add(self.reserve.get());
        each.saturating_mul(u64::from(self.ports))
    }

    fn check(&self) -> Result<(), QuestionError> {
        const MOST: u64 = 1_000_000;
        const MOST_MEMORY: Bytes = Bytes::new(1_000_000_000_000);
        let refuse = |key, value: &dyn fmt::Display, fix: &str| {
            Err(QuestionError { key, value: value.to_string(), fix: fix.to_owned() })
        };
        if !RATES.contains(&self.rate) {
            return refuse("rate", &self.rate, "give 1Mbps to 100Tbps");
        }
        if self.delay > MAX_DELAY {
            return refuse("delay", &self.delay, "give at most 1s");
        }
        if let Some(response) = self.response.filter(|&response| response > MAX_DELAY) {
            return refuse("response", &response, "give at most 1s");
        }
        if PathMtu::try_from(self.path_mtu).is_err() {
            let fix = "give 256, 512, 1024, 2048 or 4096, the path MTUs of RoCE; larger frames of other \
                       classes are the `--largest-frame`";
            return refuse("mtu", &self.path_mtu, fix);
        }
        let own = frame_of_mtu(self.path_mtu);
        let allowed = own..=Bytes::new(MOST);
        if let Some(frame) = self.largest_frame.filter(|frame| !allowed.contains(frame)) {
            let fix = format!("give {own}, the class's own largest frame, to 1MB, or leave it out");
            return refuse("largest-frame", &frame, &fix);
        }
        if !(1..=MOST).contains(&self.cell.get()) {
            return refuse("cell", &self.cell, "give 1B to 1MB");
        }
        if self.ports == 0 {
            return refuse("ports", &self.ports, "give at least 1");
        }
        for (key, size) in [("buffer", self.buffer), ("reserve", self.reserve)] {
            if size > MOST_MEMORY {
                return refuse(key, &size, "give at most 1TB");
            }
        }
        if self.shared.numerator() > self.shared.denominator() {
            let fix = "give the part of the buffer that is shared, 0 to 1, such as 0.5";
            return refuse("shared", &decimal(self.shared), fix);
        }
        Ok(())
    }
}

/// How many classes fit into some memory, at most 8. Sizes in bytes.
pub(super) fn count_classes(memory: u64, class: u64) -> u32 {
    u32::try_from(memory.checked_div(class).unwrap_or(8)).map_or(8, |fit| fit.min(8))
}

/// To six decimals.
fn decimal(ratio: Ratio) -> String {
    let millionths = u128::from(ratio.numerator()) * 1_000_000 / u128::from(ratio.denominator());
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for HeadroomAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = &self.headroom;
        let [delay, response] = [self.delay_ps, self.response_ps].map(Duration::from_ps);
        let rate = Bandwidth::from_bps(self.rate_bps);
        writeln!(
            f,
            "headroom of one lossless class at one port: {rate}, {delay} one way, store and forward\n"
        )?;
        let mut line = |sign: &str, bytes: u64, what: &str, formula: String| {
            writeln!(f, "  {sign} {bytes:>10} B  {what:<44} {formula}")
        };
        let frame = self.frame_bytes;
        line(" ", sum.first_bytes, "the frame that crosses XOFF", format!("L = {frame}"))?;
        let ahead = format!("A + 12, A = {}", self.largest_frame_bytes);
        line("+", sum.ahead_bytes, "a frame ahead of the pause, and its gap", ahead)?;
        line("+", sum.pause_bytes, "the pause and its preamble", "64 + 8".into())?;
        line("+", sum.cable_bytes, "two propagation delays", format!("2 D R / 8, D = {delay}"))?;
        let mut formula = format!("T R / 8 + 1, T = {response}");
        if let Some(listed) = self.response_of_rate_bps.filter(|&listed| listed != self.rate_bps) {
            let what = if listed < self.rate_bps { "that" } else { "the quanta" };
            formula += &format!(", {what} of {}", Bandwidth::from_bps(listed));
        }
        line("+", sum.response_bytes, "the response time", formula)?;
        line("+", sum.begun_bytes, "the frame that the sender had begun", "L + 8".into())?;
        if self.cell_bytes > 1 {
            let formula = format!("of {} B, filled worst", self.cell_bytes);
            line("+", sum.cell_bytes, "cells", formula)?;
        }
        line("=", sum.total_bytes, "headroom", String::new())?;
        let fit = self.classes_that_fit;
        let [class, buffer, shared] =
            [self.class_bytes, self.buffer_bytes, self.shared_bytes].map(Bytes::new);
        writeln!(
            f,
            "\n{} ports: a class keeps {class}. Of a buffer of {buffer}, with {shared} of it shared, \
             {fit} lossless class{} fit{}.",
            self.ports,
            if fit == 1 { "" } else { "es" },
            if fit == 1 { "s" } else { "" }
        )?;
        writeln!(f, "{}", self.other_count)?;
        if self.response_of_rate_bps.is_some() {
            writeln!(
                f,
                "T is what IEEE 802.3 allows a port. `rocelab check` takes the scenario's own, 0 by default: \
                 `pause_response` and `latency`."
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for OtherCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fit, class) = (self.classes_that_fit, Bytes::new(self.class_bytes));
        match self.cell_bytes {
            1 => f.write_str("Counted in bytes, as if memory had no cells, ")?,
            cell => write!(f, "Counted in cells of {cell} B, ")?,
        }
        write!(f, "a class keeps {class}, and {fit} fit{}.", if fit == 1 { "s" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The switches of "RDMA over Commodity Ethernet at Scale": 32 ports of 40 Gbit/s, 300 m.
    fn question(buffer_mb: u64) -> HeadroomQuestion {
        HeadroomQuestion {
            rate: Bandwidth::from_gbps(40),
            delay: Duration::from_ns(1_500),
            path_mtu: 1_024,
            largest_frame: None,
            response: None,
            cell: Bytes::new(1),
            ports: 32,
            buffer: Bytes::new(buffer_mb * 1_000_000),
            shared: Ratio::new(1, 2),
            reserve: Bytes::ZERO,
        }
    }

    fn fit(question: HeadroomQuestion) -> u32 {
        question.answer().unwrap().classes_that_fit
    }

    #[test]
    fn the_sum_and_the_number_of_classes_are_those_of_the_formula() {
        let answer = question(12).answer().unwrap();
        // 118 quanta of 64 bytes; 2 x 1.5 us at 40 Gbit/s.
        let total = 1_106 + 1_118 + 72 + 15_000 + 118 * 64 + 1 + 1_114;
        assert_eq!(answer.headroom.total_bytes, total);
        assert_eq!(answer.class_bytes, 32 * total);
        assert_eq!(u64::from(answer.classes_that_fit), 6_000_000 / (32 * total));
        let text = answer.to_string();
        assert!(text.contains(" 25963 B  headroom"), "{text}");
    }

    #[test]
    fn two_classes_fit_into_9_and_12_mb_where_the_documentation_says_so() {
        let with = |mb, percent, ahead, cell| {
            fit(HeadroomQuestion {
                shared: Ratio::new(percent, 100),
                largest_frame: Some(Bytes::new(ahead)),
                cell: Bytes::new(cell),
                ..question(mb)
            })
        };
        // Shared percentage, largest frame, cell; classes in 9 MB and in 12 MB.
        for (percent, ahead, cell, expected) in [
            (50, 1_106, 1, (5, 7)),
            (80, 1_106, 1, (2, 2)),
            (67, 9_216, 1, (2, 3)),
            (80, 9_216, 1, (1, 2)),
            (50, 1_106, 208, (2, 3)),
            (67, 1_106, 208, (1, 2)),
            (50, 9_216, 208, (1, 2)),
        ] {
            let both = [9, 12].map(|mb| with(mb, percent, ahead, cell));
            assert_eq!((both[0], both[1]), expected, "{percent} {ahead} {cell}");
        }
    }

    #[test]
    fn the_other_count_is_the_answer_to_the_same_question_with_the_other_cell() {
        for mb in [9, 12] {
            let [bytes, cells] = [1, 208].map(|cell| {
                let cell = Bytes::new(cell);
                HeadroomQuestion { cell, ..question(mb) }.answer().unwrap()
            });
            for (one, other) in [(&bytes, &cells), (&cells, &bytes)] {
                assert_eq!(one.other_count.cell_bytes, other.cell_bytes);
                assert_eq!(one.other_count.class_bytes, other.class_bytes);
                assert_eq!(one.other_count.classes_that_fit, other.classes_that_fit);
            }
        }
    }

    #[test]
    fn impossible_questions_are_refused() {
        let refused = |question: HeadroomQuestion| question.answer().unwrap_err().to_string();
        let q = question(12);
        assert_eq!(refused(HeadroomQuestion { ports: 0, ..q }), "ports = 0: give at least 1");
        let all = [
            HeadroomQuestion { rate: Bandwidth::from_bps(1), ..q },
            HeadroomQuestion { delay: Duration::from_ms(1_001), ..q },
            HeadroomQuestion { response: Some(Duration::from_ms(1_001)), ..q },
            HeadroomQuestion { path_mtu: 64, ..q },
            HeadroomQuestion { path_mtu: 9_000, ..q },
            HeadroomQuestion { largest_frame: Some(Bytes::new(1_105)), ..q },
            HeadroomQuestion { cell: Bytes::ZERO, ..q },
            HeadroomQuestion { buffer: Bytes::new(u64::MAX / 2), ..q },
            HeadroomQuestion { reserve: Bytes::new(u64::MAX / 2), ..q },
            HeadroomQuestion { shared: Ratio::new(3, 2), ..q },
        ];
        for question in all {
            assert!(refused(question).contains("give "), "{question:?}");
        }
        assert_eq!(fit(HeadroomQuestion { buffer: Bytes::ZERO, ..q }), 0);
    }
}
