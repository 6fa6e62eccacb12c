//! Switches: forwarding, marking, and the pauses that they ask for.

use crate::accident::Accident;
use crate::agenda::Event;
use crate::config::{Branch, Multipath};
use crate::frame::{CONTROL_CLASS, Frame, Kind, PAUSE_BYTES};
use crate::memory::{admit, classes_to_pause, may_resume, release};
use crate::output::{Lines, Trace};
use crate::simulator::Simulator;
use crate::time::{MICROSECOND, truncated_u32};

/// Thresholds of class 1, which acknowledgements are in: those of DCTCP (bytes), for certain above the
/// second.
const MARKING_OF_CLASS_1: (u32, u32, f64) = (41_200, 412_000, 1.0);
/// The node whose memory the branch `timely` prints.
const PRINTED_NODE: u32 = 2;

impl<T: Trace, L: Lines, P: Lines> Simulator<'_, T, L, P> {
    /// A switch forwards a packet that came in by port `from`, without delay.
    #[inline]
    pub(crate) fn forward(&mut self, from: u32, frame: Frame) {
        let to = self.choose_port(from, &frame);
        if frame.class == CONTROL_CLASS {
            self.network.switch_ports[to as usize].push(frame);
            return self.transmit_switch(to);
        }
        let place = self.network.ports[to as usize].place as usize;
        let pools = &mut self.network.pools[place];
        let ports = &mut self.network.switch_ports;
        let bytes = u32::from(frame.size);
        if admit(pools, ports, (from, to), frame.class, bytes) {
            self.network.switch_ports[to as usize].push(frame);
            if P::ARE_READ {
                self.print_memory(from, frame.class);
            }
            self.transmit_switch(to);
        } else {
            self.drop(to, frame.class);
        }
        self.check(to, from, frame.class);
    }

    #[cold]
    fn drop(&mut self, to: u32, class: u8) {
        let port = &self.network.ports[to as usize];
        let (node, interface) = (port.node, port.interface);
        self.statistics.memory_drops += 1;
        let now = self.agenda.now;
        self.log(format_args!("X {now} {node} {interface} {class}"));
    }

    fn print_memory(&mut self, from: u32, class: u8) {
        let port = &self.network.ports[from as usize];
        if port.node == PRINTED_NODE {
            let interface = port.interface;
            let bytes = self.network.switch_ports[from as usize].ingress.classes[class as usize];
            self.print(format_args!("IB {PRINTED_NODE}:{interface} {bytes}"));
        }
    }

    /// The port by which a switch forwards a packet.
    #[inline]
    fn choose_port(&mut self, from: u32, frame: &Frame) -> u32 {
        let node = self.network.ports[from as usize].node;
        let routes = &self.input.routes;
        let route = routes.of(node, frame.to);
        let choice = match self.input.config.multipath {
            _ if route.is_direct => 0,
            Multipath::None => 0,
            Multipath::Flow if route.count == 1 => 0,
            Multipath::Flow => {
                self.ends.streams[frame.stream as usize].hash_of(frame.kind) % route.count
            }
            Multipath::Packet => truncated_u32(self.random.path(node) * f64::from(route.count)),
        };
        routes.port(route, choice)
    }

    /// Has a port of a switch send its next packet, unless it is sending.
    #[inline]
    pub(crate) fn transmit_switch(&mut self, number: u32) {
        let port = &self.network.ports[number as usize];
        if port.is_busy {
            return;
        }
        let (paused, place) = (port.paused, port.place as usize);
        let pauses_hold = self.input.options.branch == Branch::Timely;
        let arithmetic = self.input.options.arithmetic;
        let switch_port = &mut self.network.switch_ports[number as usize];
        let Some(mut frame) = switch_port.take(self.agenda.now, paused, pauses_hold, arithmetic)
        else {
            return;
        };
        if frame.class != CONTROL_CLASS {
            let pools = &mut self.network.pools[place];
            let ports = &mut self.network.switch_ports;
            release(pools, ports, (frame.ingress, number), frame.class, u32::from(frame.size));
            if self.input.config.qcn {
                let shared = ports[number as usize].egress.shared[frame.class as usize];
                if self.marks(shared, frame.class) {
                    frame.is_marked = true;
                    self.statistics.marks += 1;
                }
            }
        }
        self.start_transmission(number, frame);
    }

    /// Whether a packet is marked of a queue that has so many `bytes` in shared memory.
    #[inline]
    fn marks(&mut self, bytes: u32, class: u8) -> bool {
        let rules = &self.input.config.marking;
        let (least, most, probability) =
            if class == 1 { MARKING_OF_CLASS_1 } else { (rules.kmin, rules.kmax, rules.pmax) };
        if bytes > most {
            return true;
        }
        if bytes <= least || least == most {
            return false;
        }
        let share = f64::from(bytes - least) / f64::from(most - least) * probability;
        self.random.draws.next_uniform() < share
    }

    /// The timer that port `port` has for port `from` expired.
    pub(crate) fn on_check(&mut self, port: u32, from: u32, class: u8, serial: u32) {
        if *self.check_serial(port, from, class) == serial {
            self.check(port, from, class);
        }
    }

    /// Which timer of port `port` for port `from` is valid.
    fn check_serial(&mut self, port: u32, from: u32, class: u8) -> &mut u32 {
        let place = self.network.ports[port as usize].place as usize;
        let local = self.network.switch_ports[from as usize].local as usize;
        let serials = &mut self.network.switch_ports[port as usize].check_serials;
        if serials.is_empty() {
            serials.resize(8 * self.network.port_counts[place] as usize, 0);
        }
        &mut serials[8 * local + class as usize]
    }

    /// Makes the timer of port `port` for port `from` invalid; the number of the next one.
    fn cancel_check(&mut self, port: u32, from: u32, class: u8) -> u32 {
        let serial = self.check_serial(port, from, class);
        *serial = serial.wrapping_add(1);
        *serial
    }

    /// Looks whether port `from` should ask its sender to pause after a packet of `class` for port `to`,
    /// or to go on.
    ///
    /// It is asked to go on with class 0 whichever was paused, so a pause ends by itself.
    #[inline]
    fn check(&mut self, to: u32, from: u32, class: u8) {
        let place = self.network.ports[to as usize].place as usize;
        let pools = &self.network.pools[place];
        let of_sender = &self.network.switch_ports[from as usize];
        let classes = classes_to_pause(self.thresholds, pools, of_sender, class);
        if classes != 0 {
            self.ask_to_pause(to, from, class, classes);
        }
        let of_sender = &self.network.switch_ports[from as usize];
        if of_sender.asked & 1 << class != 0 {
            let pools = &self.network.pools[place];
            if may_resume(self.thresholds, pools, of_sender, class) {
                self.statistics.resumes += 1;
                self.send_pause(to, from, 0, 0);
                self.network.switch_ports[from as usize].asked &= !(1 << class);
                self.cancel_check(to, from, class);
            }
        }
    }

    fn ask_to_pause(&mut self, to: u32, from: u32, class: u8, classes: u8) {
        let pause = self.input.config.pause.time;
        if pause < 2 {
            return self.fail(Accident::PauseOfZero);
        }
        let time = u32::try_from(pause).unwrap_or(u32::MAX);
        for paused in (0..8).filter(|paused| classes & 1 << paused != 0) {
            self.statistics.pauses += 1;
            self.send_pause(to, from, paused, time);
            if P::ARE_READ {
                let port = &self.network.ports[from as usize];
                let (node, interface) = (port.node, port.interface);
                self.print(format_args!("P {node} {interface}"));
            }
            self.network.switch_ports[from as usize].asked |= 1 << class;
            let serial = self.cancel_check(to, from, class);
            let check = Event::Check { port: to, from, class, serial };
            self.agenda.after(pause / 2 * MICROSECOND, check);
        }
    }

    /// Sends a frame out of port `from` that pauses a class for so many microseconds.
    fn send_pause(&mut self, to: u32, from: u32, class: u8, time: u32) {
        // An identification is drawn that changes nothing.
        self.random.draws.skip();
        let queue = &self.network.switch_ports[to as usize].queues[class as usize];
        let frame = Frame {
            stamp: queue.bytes.into(),
            stream: 0,
            seq: time,
            ingress: from,
            to: 0,
            size: PAUSE_BYTES,
            kind: Kind::Pause,
            class: CONTROL_CLASS,
            paused: class,
            is_marked: false,
        };
        self.network.switch_ports[from as usize].push(frame);
        self.transmit_switch(from);
    }
}
