//! What hosts send: feedback, and whatever their NICs have; and the timers of their flows.

use crate::accident::Accident;
use crate::agenda::Event;
use crate::frame::{ACK_CLASS, CONTROL_BYTES, CONTROL_CLASS, Frame, Kind};
use crate::nic::Turn;
use crate::output::{Lines, Trace};
use crate::simulator::Simulator;
use crate::time::{MICROSECOND, truncated};

/// The time (ns) that a flow waits for an acknowledgement before it sends again.
const WAIT: u64 = 500_000;

impl<T: Trace, L: Lines, P: Lines> Simulator<'_, T, L, P> {
    /// Sends feedback on a stream from the host at `port`.
    pub(crate) fn send_feedback(
        &mut self,
        port: u32,
        stream: u32,
        kind: Kind,
        (seq, stamp): (u32, u64),
    ) {
        // An identification is drawn that changes nothing.
        self.random.draws.skip();
        let frame = Frame {
            stamp,
            stream,
            seq,
            ingress: 0,
            to: self.ends.streams[stream as usize].source,
            size: CONTROL_BYTES,
            kind,
            class: if kind == Kind::Ack { ACK_CLASS } else { CONTROL_CLASS },
            paused: 0,
            is_marked: false,
        };
        let place = self.network.ports[port as usize].place;
        self.network.nics[place as usize].push_control(frame);
        self.transmit_host(port);
    }

    /// Has a host send its next packet, unless it is sending.
    #[inline]
    pub(crate) fn transmit_host(&mut self, number: u32) {
        let port = &self.network.ports[number as usize];
        if port.is_busy {
            return;
        }
        let (paused, line, place) = (port.paused, port.rate, port.place);
        let now = self.agenda.now;
        let nic = &mut self.network.nics[place as usize];
        match nic.turn(now, paused) {
            Turn::Nothing => {}
            Turn::At(time) => {
                if !nic.is_wake_pending {
                    nic.is_wake_pending = true;
                    self.agenda.at(time, Event::Wake { port: number });
                }
            }
            Turn::Send(queue) => {
                let arithmetic = self.input.options.arithmetic;
                let rules = (&self.input.config.reaction, &self.input.config.recovery);
                let Some((frame, waits)) = nic.take(queue, now, line, arithmetic, rules) else {
                    return;
                };
                if waits {
                    self.start_waiting(place, queue);
                }
                self.start_transmission(number, frame);
            }
        }
    }

    /// A flow waits for an acknowledgement from now on.
    fn start_waiting(&mut self, place: u32, queue: usize) {
        let number = u32::try_from(queue).unwrap_or(0);
        let sender = self.network.nics[place as usize].sender(number);
        let time_out = Event::TimeOut { stream: sender.stream, serial: sender.wait_serial };
        self.agenda.after(WAIT, time_out);
    }

    /// Puts a packet on the link at a port.
    #[inline]
    pub(crate) fn start_transmission(&mut self, number: u32, frame: Frame) {
        let port = &mut self.network.ports[number as usize];
        let time = port.serialisation(frame.size, self.input.options.arithmetic);
        port.is_busy = true;
        port.in_flight.push_back(frame);
        let delay = port.delay;
        let hops = &mut self.statistics.hops;
        match frame.kind {
            Kind::Data => hops.data += 1,
            Kind::Ack | Kind::Nack => hops.acknowledgements += 1,
            Kind::Cnp | Kind::Pause => hops.control += 1,
        }
        self.agenda.after(time, Event::Free { port: number });
        self.agenda.after(time + delay, Event::Receive { port: number ^ 1 });
    }

    /// A packet has been sent.
    #[inline]
    pub(crate) fn on_free(&mut self, number: u32) {
        let port = &mut self.network.ports[number as usize];
        port.is_busy = false;
        if port.is_switch {
            self.transmit_switch(number);
        } else {
            self.transmit_host(number);
        }
    }

    /// A flow may send again.
    pub(crate) fn on_wake(&mut self, number: u32) {
        let place = self.network.ports[number as usize].place;
        self.network.nics[place as usize].is_wake_pending = false;
        self.transmit_host(number);
    }

    /// Starts the alpha timer of a stream's sender.
    pub(crate) fn start_alpha_timer(&mut self, stream: u32, serial: u32) {
        let time = self.input.config.reaction.alpha_interval;
        if time == 0 {
            return self.fail(Accident::TimerOfZero { key: "ALPHA_RESUME_INTERVAL" });
        }
        self.agenda.after(time * MICROSECOND, Event::Alpha { stream, serial });
    }

    /// Starts the increase timer of a stream's sender, with a part of its time.
    pub(crate) fn start_increase_timer(&mut self, stream: u32, serial: u32, part: f64) {
        // The fraction is cut off after the division.
        let time = truncated(self.input.config.reaction.increase_interval * part);
        if time == 0 {
            return self.fail(Accident::TimerOfZero { key: "RP_TIMER" });
        }
        let event = Event::Increase { stream, serial };
        self.agenda.after(time.saturating_mul(MICROSECOND), event);
    }

    /// The alpha of a stream's sender decreases.
    pub(crate) fn on_alpha_timer(&mut self, number: u32, serial: u32) {
        let stream = &self.ends.streams[number as usize];
        let sender = self.network.nics[stream.source_host as usize].sender(stream.sender);
        if sender.alpha_serial == serial {
            sender.reaction.decay(&self.input.config.reaction);
            self.start_alpha_timer(number, serial);
        }
    }

    /// The rate of a stream's sender increases.
    pub(crate) fn on_increase_timer(&mut self, number: u32, serial: u32) {
        let stream = &self.ends.streams[number as usize];
        let sender = self.network.nics[stream.source_host as usize].sender(stream.sender);
        if sender.increase_serial == serial {
            let part = if sender.reaction.is_hyper() { 0.5 } else { 1.0 };
            sender.reaction.timer_event(&self.input.config.reaction);
            self.start_increase_timer(number, serial, part);
        }
    }

    /// A stream's sender has waited too long for an acknowledgement.
    pub(crate) fn on_time_out(&mut self, number: u32, serial: u32) {
        let stream = self.ends.streams[number as usize];
        let nic = &mut self.network.nics[stream.source_host as usize];
        if nic.sender(stream.sender).wait_serial != serial {
            return;
        }
        self.statistics.time_outs += 1;
        let now = self.agenda.now;
        let (node, sender) = (stream.source, stream.sender);
        if !nic.time_out(sender, now) {
            return self.fail(Accident::EmptyBuffer { stream: number });
        }
        self.log(format_args!("R {now} {node} {sender}"));
        self.transmit_host(self.network.host_ports[stream.source_host as usize]);
    }
}
