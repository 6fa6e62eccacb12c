//! The simulator: what there is, and what happens in each event.

use std::fmt;
use std::ops::ControlFlow;

use rocelab_engine::{Engine, EventKey, EventQueue, World};

use crate::accident::Accident;
use crate::agenda::{Agenda, Event};
use crate::config::{Branch, Multipath};
use crate::error::InputError;
use crate::input::Input;
use crate::memory::Thresholds;
use crate::output::{Lines, Outputs, Trace};
use crate::random::{Losses, Random};
use crate::setup::{Ends, Network};
use crate::statistics::Statistics;

/// Events between two looks at whether somebody wants the run to end.
const SLICE: u64 = 1 << 16;
/// When the branch `timely` begins to print queues, how often (ns), and what is printed at all.
const FIRST_SAMPLE: u64 = 1_000_000_000;
const SAMPLE_INTERVAL: u64 = 100_000;
const FIRST_PRINTED: u64 = 2_000_000_000;

/// A run.
#[derive(Debug)]
pub struct Simulator<'a, T, L, P> {
    pub(crate) input: &'a Input,
    pub(crate) agenda: Agenda,
    pub(crate) random: Random,
    pub(crate) losses: Losses,
    pub(crate) network: Network,
    pub(crate) ends: Ends,
    pub(crate) thresholds: Thresholds,
    pub(crate) statistics: Statistics,
    pub(crate) outputs: Outputs<T, L, P>,
    accident: Option<(Accident, u64)>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// What it counted.
    pub statistics: Statistics,
    /// The time (ns) that it came to.
    pub end: u64,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
}

impl<'a, T: Trace, L: Lines, P: Lines> Simulator<'a, T, L, P> {
    /// A run of `input` at its start, which tells `outputs` what happens.
    pub fn new(input: &'a Input, outputs: Outputs<T, L, P>) -> Self {
        let config = &input.config;
        let dynamic = config.pause.dynamic;
        let is_random = config.multipath == Multipath::Packet;
        let mut random = Random::new(input, input.seed, is_random);
        let ends = Ends::new(input, &mut random);
        let mut simulator = Self {
            input,
            agenda: Agenda::new(config.stop),
            losses: Losses::new(input, input.seed),
            random,
            network: Network::new(input),
            ends,
            thresholds: match input.options.branch {
                Branch::Master => Thresholds::master(dynamic),
                Branch::Timely => Thresholds::timely(dynamic),
            },
            statistics: Statistics::default(),
            outputs,
            accident: None,
        };
        simulator.begin();
        simulator
    }

    /// Schedules what applications do, node after node.
    fn begin(&mut self) {
        if self.input.options.branch == Branch::Timely {
            self.agenda.at(FIRST_SAMPLE, Event::Sample);
        }
        let flows = &self.input.flows;
        let mut order: Vec<_> = (0u32..).zip(flows).collect();
        order.sort_by_key(|(_, flow)| flow.source);
        for (number, flow) in order {
            self.agenda.at(flow.start, Event::Start { flow: number });
            self.agenda.at(flow.stop, Event::Stop { flow: number });
        }
    }

    /// Runs to the end, or until `observe`, which is told the present time (ns) now and then, says that
    /// it is enough.
    ///
    /// # Errors
    /// If the simulator would crash, never end, or read memory that nobody has set.
    pub fn run(
        mut self,
        mut observe: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(Finished, Outputs<T, L, P>), InputError> {
        let mut engine = Engine::new();
        let limit = self.agenda.limit();
        let mut is_interrupted = false;
        while engine.run(&mut self, limit, SLICE) {
            if self.accident.is_some() {
                break;
            }
            if observe(self.agenda.now).is_break() {
                is_interrupted = true;
                break;
            }
        }
        if let Some((accident, time)) = self.accident {
            return Err(accident.explain(self.input, time));
        }
        self.statistics.events = engine.executed();
        let end = if is_interrupted { self.agenda.now } else { self.input.config.stop };
        Ok((Finished { statistics: self.statistics, end, is_interrupted }, self.outputs))
    }

    /// The run cannot go on.
    #[cold]
    pub(crate) fn fail(&mut self, accident: Accident) {
        let time = self.agenda.now;
        self.accident.get_or_insert((accident, time));
    }

    /// Writes a line of the reference log.
    #[inline]
    pub(crate) fn log(&mut self, line: fmt::Arguments<'_>) {
        if L::ARE_READ {
            self.outputs.log.line(line);
        }
    }

    /// Prints a line of the branch `timely`, with the time before it.
    pub(crate) fn print(&mut self, line: fmt::Arguments<'_>) {
        if P::ARE_READ && self.agenda.now >= FIRST_PRINTED {
            let seconds = self.input.options.arithmetic.seconds(self.agenda.now);
            self.outputs.printed.line(format_args!("{seconds:.6} {line}"));
        }
    }

    /// Prints how much waits at the first port of node 0: there the third queue counts.
    fn sample(&mut self) {
        const QUEUE: usize = 3;
        let network = &self.network;
        let port = network.ports.iter().position(|port| port.node == 0 && port.interface == 1);
        if let Some(port) = port {
            let place = network.ports[port].place as usize;
            let bytes = if network.ports[port].is_switch {
                network.switch_ports[port].queues[QUEUE].bytes
            } else {
                network.nics[place].waiting(QUEUE)
            };
            self.print(format_args!("Q {bytes}"));
        }
        self.agenda.after(SAMPLE_INTERVAL, Event::Sample);
    }
}

impl<T: Trace, L: Lines, P: Lines> World for Simulator<'_, T, L, P> {
    type Event = Event;

    #[inline]
    fn queue(&self) -> &EventQueue<Event> {
        &self.agenda.queue
    }

    #[inline]
    fn queue_mut(&mut self) -> &mut EventQueue<Event> {
        &mut self.agenda.queue
    }

    #[inline]
    fn handle(&mut self, key: EventKey, event: Event) {
        if self.accident.is_some() {
            return;
        }
        self.agenda.advance(key);
        match event {
            Event::Free { port } => self.on_free(port),
            Event::Receive { port } => self.on_receive(port),
            Event::Send { flow, serial } => self.on_send(flow, serial),
            Event::Wake { port } => self.on_wake(port),
            Event::Check { port, from, class, serial } => self.on_check(port, from, class, serial),
            Event::Resume { port, class, serial } => self.on_resume(port, class, serial),
            Event::Cnp { stream } => self.on_cnp_timer(stream),
            Event::Alpha { stream, serial } => self.on_alpha_timer(stream, serial),
            Event::Increase { stream, serial } => self.on_increase_timer(stream, serial),
            Event::TimeOut { stream, serial } => self.on_time_out(stream, serial),
            Event::Start { flow } => self.on_start(flow),
            Event::Stop { flow } => self.on_stop(flow),
            Event::Sample => self.sample(),
        }
    }
}
