//! Sending applications: they push packets into the NIC, throttled by what waits there.

use crate::accident::Accident;
use crate::agenda::Event;
use crate::config::Branch;
use crate::frame::{Frame, Kind, NO_STAMP};
use crate::output::{Lines, Trace};
use crate::simulator::Simulator;
use crate::time::Arithmetic;
use crate::timely::TimelyRate;

/// What an application that sends in chunks may send before an answer, and with each answer (bytes).
pub(crate) const CHUNK_BYTES: u64 = 4_000_000;
/// Where jitter begins, and where it ends.
const JITTER: (f64, f64) = (0.45, 0.55);
/// What an application that would have to wait longer (s) does not do: send.
const PATIENCE: f64 = 5e-6;
/// The shortest interval between two looks at the NIC (s), before it is cut to nanoseconds.
const SHORTEST: f64 = 2.5e-7;

/// The application of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    /// Packets, and bytes, that it has made.
    sent: u32,
    sent_bytes: u64,
    /// Bytes that it may make.
    allowed: u64,
    /// The number of the next event that it schedules, from 1.
    next_serial: u32,
    /// The number of an event that was cancelled; 0 if none was.
    cancelled: u32,
    has_stopped: bool,
    /// Its rate in the branch `timely`.
    pub(crate) rate: TimelyRate,
}

impl Application {
    pub(crate) const fn new(rate: TimelyRate) -> Self {
        Self {
            sent: 0,
            sent_bytes: 0,
            allowed: CHUNK_BYTES,
            next_serial: 1,
            cancelled: 0,
            has_stopped: false,
            rate,
        }
    }

    /// Whether a chunk has room for one of its packets of `size` bytes.
    const fn chunk_has_room(&self, packets: u32, size: u32) -> bool {
        self.sent_bytes < self.allowed && self.sent_bytes / (size as u64) < packets as u64
    }
}

/// The interval (s) after which an application looks at its NIC again, but for jitter: the time in
/// which 40 Gbit/s would send most of what waits.
fn interval(backlog: u32, arithmetic: Arithmetic) -> f64 {
    // The order of these operations must not change: they round.
    let time = (f64::from(backlog) * 8.0 - 12_000.0) / 40.0 / 1e9 * 0.95;
    let shortest = arithmetic.seconds(arithmetic.nanoseconds(SHORTEST));
    if time > shortest { time } else { shortest }
}

impl<T: Trace, L: Lines, P: Lines> Simulator<'_, T, L, P> {
    /// The application of a flow starts: it gets the next port of its host.
    pub(crate) fn on_start(&mut self, flow: u32) {
        let stream = &mut self.ends.streams[flow as usize];
        let next = &mut self.ends.next_ports[stream.source_host as usize];
        stream.ports[0] = *next;
        *next = next.wrapping_add(1);
        stream.rehash();
        let port = stream.ports[0];
        if let Some(answers) = self.ends.streams.get_mut(self.input.flows.len() + flow as usize) {
            answers.ports[1] = port;
            answers.rehash();
        }
        self.schedule_send(flow, 0);
    }

    /// It stops: the last event that it has scheduled is cancelled.
    pub(crate) fn on_stop(&mut self, flow: u32) {
        let application = &mut self.ends.applications[flow as usize];
        application.cancelled = application.next_serial - 1;
        application.has_stopped = true;
    }

    fn schedule_send(&mut self, flow: u32, delay: u64) {
        let application = &mut self.ends.applications[flow as usize];
        let serial = application.next_serial;
        application.next_serial = serial.wrapping_add(1);
        self.agenda.after(delay, Event::Send { flow, serial });
    }

    /// It may send.
    pub(crate) fn on_send(&mut self, flow: u32, serial: u32) {
        let application = &self.ends.applications[flow as usize];
        if application.cancelled == serial {
            return;
        }
        match self.input.options.branch {
            Branch::Master => self.send_one(flow),
            Branch::Timely => self.send_burst(flow),
        }
    }

    fn send_one(&mut self, flow: u32) {
        let packets = self.input.flows[flow as usize].packets;
        let size = self.input.config.payload;
        let in_chunks = self.input.config.in_chunks;
        let application = &self.ends.applications[flow as usize];
        if in_chunks && !application.chunk_has_room(packets, size) {
            return;
        }
        if in_chunks && application.has_stopped {
            return self.fail(Accident::SocketGone { flow });
        }
        let stream = &self.ends.streams[flow as usize];
        let nic = &self.network.nics[stream.source_host as usize];
        let backlog = nic.backlog(stream.sender, stream.class);
        let wait = interval(backlog, self.input.options.arithmetic);
        if wait < PATIENCE {
            self.send_packet(flow, NO_STAMP);
        }
        let application = &self.ends.applications[flow as usize];
        let is_left = if in_chunks {
            application.chunk_has_room(packets, size)
        } else {
            application.sent < packets
        };
        if is_left {
            let jitter = JITTER.0 + self.random.draws.next_uniform() * (JITTER.1 - JITTER.0);
            let delay = self.input.options.arithmetic.nanoseconds(wait * jitter);
            self.schedule_send(flow, delay);
        }
    }

    /// A burst of 16 kB goes into the NIC at once; its last packet asks for an answer.
    fn send_burst(&mut self, flow: u32) {
        let packets = self.input.flows[flow as usize].packets;
        let size = self.input.config.payload;
        let burst = TimelyRate::burst(size);
        for _ in 0..burst {
            let sent = self.ends.applications[flow as usize].sent;
            if sent == packets {
                return;
            }
            let asks = (sent + 1).is_multiple_of(burst);
            let stamp = if asks { self.agenda.now } else { NO_STAMP };
            self.send_packet(flow, stamp);
        }
        let application = &self.ends.applications[flow as usize];
        if application.sent < packets {
            let seconds = application.rate.time_of_burst(size);
            let delay = self.input.options.arithmetic.nanoseconds(seconds);
            self.schedule_send(flow, delay);
        }
    }

    /// Makes the next packet of a flow.
    fn send_packet(&mut self, flow: u32, stamp: u64) {
        let size = self.input.config.payload;
        let application = &mut self.ends.applications[flow as usize];
        let seq = application.sent;
        application.sent = seq.wrapping_add(1);
        application.sent_bytes += u64::from(size);
        self.statistics.packets += 1;
        self.hand_over(flow, seq, stamp);
    }

    /// Gives data of a stream to its NIC.
    pub(crate) fn hand_over(&mut self, number: u32, seq: u32, stamp: u64) {
        let stream = &mut self.ends.streams[number as usize];
        let host = stream.source_host as usize;
        let nic = &mut self.network.nics[host];
        let frame = Frame {
            stamp,
            stream: number,
            seq,
            ingress: 0,
            to: stream.destination,
            size: stream.size,
            kind: Kind::Data,
            class: stream.class,
            paused: 0,
            is_marked: false,
        };
        if self.input.config.qcn && stream.class == 7 {
            nic.push_control(frame);
        } else {
            if stream.sender == 0 {
                match nic.add(number, stream.class, &self.input.config.recovery) {
                    Some(sender) => stream.sender = sender,
                    None => {
                        let node = stream.source;
                        return self.fail(Accident::TooManyFlows { node });
                    }
                }
            }
            nic.push(stream.sender, frame);
        }
        self.transmit_host(self.network.host_ports[host]);
    }

    /// Data reached the application at the end of its stream.
    pub(crate) fn deliver(&mut self, frame: &Frame) {
        let flows = self.input.flows.len();
        let number = frame.stream as usize;
        let is_timely = self.input.options.branch == Branch::Timely;
        if number < flows {
            self.deliver_data(frame, is_timely);
            return;
        }
        let flow = number - flows;
        let number = frame.stream - u32::try_from(flows).unwrap_or(0);
        let application = &mut self.ends.applications[flow];
        if application.has_stopped {
            return self.fail(Accident::SocketGone { flow: number });
        }
        if is_timely {
            self.on_answer(number, frame.stamp);
        } else {
            application.allowed += CHUNK_BYTES;
            self.schedule_send(number, 0);
        }
    }

    fn deliver_data(&mut self, frame: &Frame, is_timely: bool) {
        let answers = u32::try_from(self.input.flows.len()).unwrap_or(0) + frame.stream;
        let receiver = &mut self.ends.receivers[frame.stream as usize];
        if is_timely {
            if frame.stamp != NO_STAMP {
                let seq = receiver.answers;
                receiver.answers += 1;
                self.hand_over(answers, seq, frame.stamp);
            }
        } else if self.input.config.in_chunks {
            receiver.delivered += u64::from(self.input.config.payload);
            if receiver.delivered >= CHUNK_BYTES {
                receiver.delivered = 0;
                self.hand_over(answers, 1, NO_STAMP);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_waits_for_most_of_what_its_nic_has() {
        assert_eq!(interval(0, Arithmetic::Linux), 2.489_999_999_999_632e-7);
        assert!(interval(27_815, Arithmetic::Linux) < PATIENCE);
        assert!(interval(27_817, Arithmetic::Linux) > PATIENCE);
    }

    #[test]
    fn a_chunk_is_4_mb() {
        let mut application = Application::new(TimelyRate::default());
        assert!(application.chunk_has_room(1, 1_000));
        application.sent_bytes = 1_000;
        assert!(!application.chunk_has_room(1, 1_000));
        application.sent_bytes = CHUNK_BYTES;
        assert!(!application.chunk_has_room(9_999, 1_000));
        application.allowed += CHUNK_BYTES;
        assert!(application.chunk_has_room(9_999, 1_000));
    }
}
