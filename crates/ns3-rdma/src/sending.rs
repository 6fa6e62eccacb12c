//! What applications do: they make packets, and get what reaches the end of a stream.

use crate::accident::Accident;
use crate::agenda::Event;
use crate::application::{CHUNK_BYTES, JITTER, PATIENCE, interval};
use crate::config::Branch;
use crate::frame::{Frame, Kind, NO_STAMP};
use crate::output::{Lines, Trace};
use crate::simulator::Simulator;
use crate::timely::TimelyRate;

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
        let wait = interval(backlog, self.ends.shortest_interval);
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

    /// The answer to a packet of `flow` came that was made at `stamp`.
    pub(crate) fn on_answer(&mut self, flow: u32, stamp: u64) {
        const GIGABIT: f64 = 1e9;
        let size = self.input.config.payload;
        let arithmetic = self.input.options.arithmetic;
        let round_trip = arithmetic.seconds(self.agenda.now - stamp);
        let rate = &mut self.ends.applications[flow as usize].rate;
        let old = rate.rate;
        rate.react(round_trip, size);
        let new = rate.rate;
        let node = self.input.flows[flow as usize].source;
        self.print(format_args!("Z{node} {:.6} {:.6}", old / GIGABIT, new / GIGABIT));
    }
}
