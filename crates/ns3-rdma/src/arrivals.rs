//! Packets that reach a port: losses, pauses, and what a host does with the others.

use crate::accident::Accident;
use crate::agenda::Event;
use crate::config::Branch;
use crate::frame::{Frame, Kind};
use crate::nic::Acknowledged;
use crate::output::{Arrival, Lines, Packet, Trace};
use crate::receiver::Verdict;
use crate::simulator::Simulator;
use crate::time::MICROSECOND;

impl<T: Trace, L: Lines, P: Lines> Simulator<'_, T, L, P> {
    /// The last bit of a packet reaches a port. A packet is tested twice for loss; of one that a host
    /// loses in the second test, only trace and application do not hear.
    #[inline]
    pub(crate) fn on_receive(&mut self, number: u32) {
        let Some(mut frame) = self.network.ports[number as usize ^ 1].in_flight.pop_front() else {
            return;
        };
        let link = number as usize / 2;
        if self.losses.loses(link) {
            return self.lose(number, &frame, 1);
        }
        if frame.kind == Kind::Pause {
            return self.on_pause(number, &frame);
        }
        let port = &self.network.ports[number as usize];
        let is_switch = port.is_switch;
        let node = port.node;
        if !is_switch {
            match frame.kind {
                Kind::Data => self.receive_data(number, &frame),
                Kind::Cnp => self.receive_cnp(&frame),
                Kind::Ack => self.receive_acknowledgement(number, &frame, false),
                Kind::Nack => self.receive_acknowledgement(number, &frame, true),
                Kind::Pause => {}
            }
        }
        if self.losses.loses(link) {
            return self.lose(number, &frame, 2);
        }
        if self.input.traced[node as usize] {
            let arrival = self.arrival(number, &frame);
            self.outputs.trace.received(&arrival);
        }
        if is_switch {
            frame.ingress = number;
            self.forward(number, frame);
        } else if frame.kind == Kind::Data {
            self.deliver(&frame);
        }
    }

    #[cold]
    fn lose(&mut self, number: u32, frame: &Frame, test: u32) {
        let port = &self.network.ports[number as usize];
        let (node, interface) = (port.node, port.interface);
        self.statistics.losses += 1;
        let now = self.agenda.now;
        self.log(format_args!("E {now} {node} {interface} {test}"));
        if self.input.traced[node as usize] {
            let arrival = self.arrival(number, frame);
            self.outputs.trace.lost(&arrival);
        }
    }

    /// A packet as a trace shows it.
    fn arrival(&self, number: u32, frame: &Frame) -> Arrival {
        let port = &self.network.ports[number as usize];
        let addresses = |feedback: bool| {
            let [source, destination] = self.ends.streams[frame.stream as usize].addresses;
            if feedback { [destination, source] } else { [source, destination] }
        };
        let class = || self.ends.streams[frame.stream as usize].class;
        let (addresses, packet) = match frame.kind {
            Kind::Data => {
                let [_, port] = self.ends.streams[frame.stream as usize].ports;
                let seq = frame.seq;
                (addresses(false), Packet::Data { port, seq, class: frame.class })
            }
            Kind::Cnp => {
                let packet = Packet::Notification { marked: frame.seq, total: frame.stamp };
                (addresses(true), packet)
            }
            Kind::Ack | Kind::Nack => {
                let packet = Packet::Acknowledgement { class: class(), seq: frame.seq };
                (addresses(true), packet)
            }
            Kind::Pause => {
                let source = crate::topology::Topology::address(
                    number as usize / 2,
                    (number as usize ^ 1) % 2,
                );
                let (time, queue) = (frame.seq, frame.stamp);
                ([source, u32::MAX], Packet::Pause { time, queue, class: frame.paused })
            }
        };
        Arrival {
            time: self.agenda.now,
            node: port.node,
            interface: port.interface,
            addresses,
            packet,
        }
    }

    /// The other end of a link asks to pause a class, or to go on.
    fn on_pause(&mut self, number: u32, frame: &Frame) {
        let now = self.agenda.now;
        let port = &mut self.network.ports[number as usize];
        let (node, interface) = (port.node, port.interface);
        let (class, time) = (frame.paused, frame.seq);
        port.paused |= 1 << class;
        let serial = &mut port.resume_serials[class as usize];
        *serial = serial.wrapping_add(1);
        let serial = *serial;
        self.log(format_args!("P {now} {node} {interface} {class} {time}"));
        if time > 0 {
            let resume = Event::Resume { port: number, class, serial };
            self.agenda.after(u64::from(time) * MICROSECOND, resume);
        } else {
            self.resume(number, class);
        }
    }

    /// A pause of a class has lasted as long as it was asked for.
    pub(crate) fn on_resume(&mut self, number: u32, class: u8, serial: u32) {
        if self.network.ports[number as usize].resume_serials[class as usize] == serial {
            self.resume(number, class);
        }
    }

    fn resume(&mut self, number: u32, class: u8) {
        let port = &mut self.network.ports[number as usize];
        port.paused &= !(1 << class);
        if port.is_switch {
            self.transmit_switch(number);
        } else {
            self.transmit_host(number);
        }
    }

    /// Data reaches its host.
    #[inline]
    fn receive_data(&mut self, port: u32, frame: &Frame) {
        let config = &self.input.config;
        let receiver = &mut self.ends.receivers[frame.stream as usize];
        let is_first = !std::mem::replace(&mut receiver.is_created, true);
        let counts = match self.input.options.branch {
            // The first packet of class 1 makes the account and is not in it.
            Branch::Master => !is_first || frame.class != 1,
            Branch::Timely => is_first && frame.class != 1,
        };
        if counts {
            receiver.count(frame.is_marked);
        }
        if is_first && config.qcn {
            self.on_cnp_timer(frame.stream);
        }
        let now = self.agenda.now;
        let receiver = &mut self.ends.receivers[frame.stream as usize];
        let Ok(verdict) = receiver.receive(frame.seq, now, &self.input.config.recovery) else {
            return self.fail(Accident::ChunkOfZero);
        };
        let expected = receiver.expected();
        let counts = &mut self.statistics.arrivals;
        match verdict {
            Verdict::Acknowledged | Verdict::InOrder => counts.in_order += 1,
            Verdict::Duplicate => counts.duplicates += 1,
            Verdict::Refused | Verdict::Early => counts.out_of_order += 1,
        }
        if L::ARE_READ {
            let stream = &self.ends.streams[frame.stream as usize];
            let (node, [source, _]) = (stream.destination, stream.addresses);
            let ([port, _], class) = (stream.ports, stream.class);
            let marks = if frame.is_marked { 3 } else { 0 };
            let (seq, verdict) = (frame.seq, verdict as u8);
            self.log(format_args!(
                "D {now} {node} {source:08x} {port} {class} {seq} {marks} {verdict}"
            ));
        }
        match verdict {
            Verdict::Acknowledged => {
                self.statistics.acknowledgements += 1;
                self.send_feedback(port, frame.stream, Kind::Ack, (expected, 0));
            }
            Verdict::Refused => {
                self.statistics.negative_acknowledgements += 1;
                self.send_feedback(port, frame.stream, Kind::Nack, (expected, 0));
            }
            Verdict::Duplicate | Verdict::Early | Verdict::InOrder => {}
        }
    }

    /// A receiver sends a CNP if packets of its account were marked.
    pub(crate) fn on_cnp_timer(&mut self, number: u32) {
        let stream = &self.ends.streams[number as usize];
        let port = self.network.host_ports[stream.destination_host as usize];
        if let Some((marked, total)) = self.ends.receivers[number as usize].take_account() {
            self.statistics.cnps += 1;
            self.send_feedback(port, number, Kind::Cnp, (marked.into(), total.into()));
        }
        let interval = self.input.config.reaction.cnp_interval * MICROSECOND;
        self.agenda.after(interval, Event::Cnp { stream: number });
    }

    /// A CNP reaches the sender of a stream.
    fn receive_cnp(&mut self, frame: &Frame) {
        let stream = self.ends.streams[frame.stream as usize];
        // Class 7 has no flow of its own at the NIC whose rate could change.
        if stream.class == 1 || frame.seq == 0 || stream.sender == 0 {
            return;
        }
        let rules = &self.input.config.reaction;
        let sender = self.network.nics[stream.source_host as usize].sender(stream.sender);
        sender.reaction.cut(rules);
        let point = sender.reaction;
        sender.alpha_serial = sender.alpha_serial.wrapping_add(1);
        sender.increase_serial = sender.increase_serial.wrapping_add(1);
        let (alpha, increase) = (sender.alpha_serial, sender.increase_serial);
        if L::ARE_READ {
            let now = self.agenda.now;
            let (node, [port, _], class) = (stream.source, stream.ports, stream.class);
            let alpha = crate::lines::Digits17(point.alpha);
            self.log(format_args!(
                "C {now} {node} {port} {class} {} {} {alpha}",
                point.rate, point.target
            ));
        }
        self.start_alpha_timer(frame.stream, alpha);
        self.start_increase_timer(frame.stream, increase, 1.0);
    }

    /// An acknowledgement, which may be `negative`, reaches the sender of a stream.
    fn receive_acknowledgement(&mut self, port: u32, frame: &Frame, negative: bool) {
        let recovery = &self.input.config.recovery;
        let now = self.agenda.now;
        let stream = self.ends.streams[frame.stream as usize];
        if L::ARE_READ {
            let kind = if negative { 'N' } else { 'A' };
            let (node, [port, _], class, seq) =
                (stream.source, stream.ports, stream.class, frame.seq);
            self.log(format_args!("{kind} {now} {node} {port} {class} {seq}"));
        }
        let mut seq = frame.seq;
        if recovery.back_to_zero {
            let Some(chunks) = seq.checked_div(recovery.chunk) else {
                return self.fail(Accident::ChunkOfZero);
            };
            seq = chunks * recovery.chunk;
        }
        let nic = &mut self.network.nics[stream.source_host as usize];
        match nic.acknowledge(stream.sender, (seq, frame.seq), negative, now, recovery) {
            Acknowledged::Done => {}
            Acknowledged::GoOn => self.transmit_host(port),
            Acknowledged::Crash => self.fail(Accident::EmptyBuffer { stream: frame.stream }),
        }
    }
}
