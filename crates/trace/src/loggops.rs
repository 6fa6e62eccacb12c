//! Runs a trace by the rules of the LogGOPS model, as LogGOPSim does.
//!
//! A host's processor is busy for each message, and its NIC for each byte; the network itself has a latency, and never
//! makes a message wait. A message above a length waits for its receive (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010).
//! As there, an operation begins when its processor is free, and dependencies only say the order: it does not wait for the
//! end of an operation on another processor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::executor::{Stall, any};
use crate::goal::{Kind, Statement, statement};
use crate::{Matched, Matching, Scheduler, Slots, Trace, TraceError};

/// Parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// L: how long the first byte of a message is on the way (ns).
    pub latency: u64,
    /// o: how long a processor is busy for a message (ns).
    pub overhead: u64,
    /// g: how long a NIC is busy for a message (ns).
    pub gap: u64,
    /// G: how long a NIC is busy for a byte (ns).
    pub gap_per_byte: u64,
    /// O: how long a processor is busy for a byte (ns).
    pub overhead_per_byte: u64,
    /// S: a message that is longer waits for its receive (bytes).
    pub eager: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            latency: 2500,
            overhead: 1500,
            gap: 1000,
            gap_per_byte: 6,
            overhead_per_byte: 0,
            eager: 65_535,
        }
    }
}

impl Parameters {
    /// The time for the bytes of a message after the first one, at a time for each byte.
    fn bytes(size: u64, each: u64) -> u64 {
        size.saturating_sub(1).saturating_mul(each)
    }
}

/// Why a trace could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It has a collective operation.
    Trace(TraceError),
    /// Some nodes never end.
    Stall(Stall),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Stall(stall) => stall.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

/// Runs a trace: when the processors of each rank are done (ns).
///
/// # Errors If there is a collective operation, which must be expanded first, or nodes are left that nothing can end.
pub fn run(trace: &Trace, parameters: &Parameters) -> Result<Vec<u64>, Failure> {
    let mut model = Model::new(trace, *parameters).map_err(Failure::Trace)?;
    model.run();
    match model.stall() {
        Some(stall) => Err(Failure::Stall(stall)),
        None => Ok(model.hosts.iter().map(Host::end).collect()),
    }
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// An operation of a rank.
    Node { rank: u32, node: u32 },
    /// The first byte of a message, which a send of a rank began.
    Message { from: u32, node: u32 },
}

/// One rank.
#[derive(Debug)]
struct Host {
    scheduler: Scheduler,
    statements: Vec<Statement>,
    matching: Matching,
    /// From when on each processor is free (ns).
    cpus: Vec<u64>,
    /// From when on each NIC can send, and receive (ns).
    sending: Vec<u64>,
    receiving: Vec<u64>,
    /// Operations that became free in the event at hand.
    free: Vec<u32>,
}

impl Host {
    fn end(&self) -> u64 {
        self.cpus.iter().copied().max().unwrap_or(0)
    }

    /// From when on an operation can begin.
    fn time(&self, statement: &Statement) -> u64 {
        let cpu = self.cpus[usize::from(statement.cpu)];
        match statement.kind {
            Kind::Send => cpu.max(self.sending[usize::from(statement.nic)]),
            Kind::Receive | Kind::Calc => cpu,
        }
    }
}

struct Model<'a> {
    trace: &'a Trace,
    parameters: Parameters,
    hosts: Vec<Host>,
    /// By time and the order in which they were made, which they keep when they are put off.
    due: BinaryHeap<Reverse<(u64, u64, Due)>>,
    made: u64,
    /// Hosts at which operations became free in the event at hand.
    touched: Vec<u32>,
    /// Messages by their token: rank and node of the send.
    messages: Vec<(u32, u32)>,
}

impl<'a> Model<'a> {
    fn new(trace: &'a Trace, parameters: Parameters) -> Result<Self, TraceError> {
        let mut hosts = Vec::with_capacity(trace.ranks.len());
        for graph in &trace.ranks {
            let statements = graph.nodes.iter().zip(&graph.labels).map(|(node, label)| {
                statement(node).ok_or_else(|| {
                    let message = "LogGOPS has no collective operations";
                    let help = "expand them into messages first";
                    TraceError::new(&graph.source, message, help).of_node(label)
                })
            });
            let scheduler = Scheduler::new(Arc::new(graph.clone()), Slots::UNLIMITED);
            hosts.push(Host {
                scheduler,
                statements: statements.collect::<Result<_, _>>()?,
                matching: Matching::default(),
                cpus: Vec::new(),
                sending: Vec::new(),
                receiving: Vec::new(),
                free: Vec::new(),
            });
        }
        let all = || hosts.iter().flat_map(|host: &Host| &host.statements);
        let cpus = all().map(|one| usize::from(one.cpu) + 1).max().unwrap_or(1);
        let nics = all().map(|one| usize::from(one.nic) + 1).max().unwrap_or(1);
        for host in &mut hosts {
            host.cpus = vec![0; cpus];
            (host.sending, host.receiving) = (vec![0; nics], vec![0; nics]);
        }
        let (due, touched, messages) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Ok(Self { trace, parameters, hosts, due, made: 0, touched, messages })
    }

    fn run(&mut self) {
        for rank in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            let host = &mut self.hosts[rank as usize];
            host.scheduler.start(&mut host.free);
            self.touched.push(rank);
            self.queue_free();
        }
        while let Some(Reverse((now, order, due))) = self.due.pop() {
            let later = match due {
                Due::Node { rank, node } => self.operate(now, rank, node),
                Due::Message { from, node } => self.arrive(now, from, node),
            };
            if let Some(later) = later {
                self.due.push(Reverse((later, order, due)));
            }
            self.queue_free();
        }
    }

    fn push(&mut self, time: u64, due: Due) {
        self.due.push(Reverse((time, self.made, due)));
        self.made += 1;
    }

    /// Queues what became free, by host, and at a host sends before receives before calculations.
    fn queue_free(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for &rank in &touched {
            let host = &mut self.hosts[rank as usize];
            let mut free = std::mem::take(&mut host.free);
            free.sort_by_key(|node| host.statements[*node as usize].kind);
            for &node in &free {
                let host = &self.hosts[rank as usize];
                let time = host.time(&host.statements[node as usize]);
                self.push(time, Due::Node { rank, node });
            }
            free.clear();
            self.hosts[rank as usize].free = free;
        }
        touched.clear();
        self.touched = touched;
    }

    fn started(&mut self, rank: u32, node: u32) {
        let host = &mut self.hosts[rank as usize];
        host.scheduler.started(node, &mut host.free);
        self.touched.push(rank);
    }

    fn done(&mut self, rank: u32, node: u32) {
        let host = &mut self.hosts[rank as usize];
        host.scheduler.done(node, &mut host.free);
        self.touched.push(rank);
    }

    /// Begins an operation, or says from when on it can.
    fn operate(&mut self, now: u64, rank: u32, node: u32) -> Option<u64> {
        let Parameters { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager } =
            self.parameters;
        let host = &mut self.hosts[rank as usize];
        let one = host.statements[node as usize];
        let time = host.time(&one);
        if time > now && one.kind != Kind::Receive {
            return Some(time);
        }
        self.started(rank, node);
        let host = &mut self.hosts[rank as usize];
        match one.kind {
            Kind::Calc => {
                host.cpus[usize::from(one.cpu)] = now.saturating_add(one.size);
                self.done(rank, node);
            }
            Kind::Send => {
                let after = |first: u64, each| {
                    now.saturating_add(first).saturating_add(Parameters::bytes(one.size, each))
                };
                host.cpus[usize::from(one.cpu)] = after(overhead, overhead_per_byte);
                host.sending[usize::from(one.nic)] = after(gap, gap_per_byte);
                let arrival = now.saturating_add(overhead).saturating_add(latency);
                self.push(arrival, Due::Message { from: rank, node });
                if one.size <= eager {
                    self.done(rank, node);
                }
            }
            Kind::Receive => {
                if let Some(Matched(message)) = host.matching.receive(one.peer, one.tag, node) {
                    let (from, send) = self.messages[message as usize];
                    if one.size > eager {
                        self.release(now, from, send, &one);
                    }
                    self.done(rank, node);
                }
            }
        }
        None
    }

    /// Receives a message, or says from when on the host can.
    fn arrive(&mut self, now: u64, from: u32, node: u32) -> Option<u64> {
        let Parameters { overhead, gap, gap_per_byte, overhead_per_byte, eager, .. } =
            self.parameters;
        let send = self.hosts[from as usize].statements[node as usize];
        let host = &mut self.hosts[send.peer as usize];
        let (cpu, nic) = (usize::from(send.cpu), usize::from(send.nic));
        let free = host.cpus[cpu].max(host.receiving[nic]);
        if free > now {
            return Some(free);
        }
        let bytes = Parameters::bytes(send.size, overhead_per_byte.max(gap_per_byte));
        host.cpus[cpu] = now.saturating_add(overhead).saturating_add(bytes);
        let bytes = Parameters::bytes(send.size, gap_per_byte);
        host.receiving[nic] = now.saturating_add(gap).saturating_add(bytes);
        let token = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        self.messages.push((from, node));
        if let Some(Matched(receive)) = host.matching.arrive(from, send.tag, token) {
            if send.size > eager {
                self.release(now, from, node, &send);
            }
            self.done(send.peer, receive);
        }
        None
    }

    /// Ends a long send when its receive is there; the sender can do nothing before on that processor and NIC.
    fn release(&mut self, now: u64, from: u32, node: u32, by: &Statement) {
        self.done(from, node);
        let host = &mut self.hosts[from as usize];
        let (cpu, nic) = (usize::from(by.cpu), usize::from(by.nic));
        host.cpus[cpu] = host.cpus[cpu].max(now);
        host.sending[nic] = host.sending[nic].max(now);
    }

    /// What is left.
    fn stall(&self) -> Option<Stall> {
        let mut words = Vec::new();
        for (rank, host) in (0_u32..).zip(&self.hosts) {
            words.extend(host.matching.waiting().map(|(peer, tag, node)| {
                let name = self.trace.name(rank, node);
                format!("{name} waits for a message from {} with tag {}", any(peer), any(tag))
            }));
            words.extend(host.matching.unexpected().map(|(from, tag, message)| {
                let name = self.trace.name(from, self.messages[message as usize].1);
                format!("{name} was received by nobody on rank {rank} (tag {tag})")
            }));
        }
        (!words.is_empty()).then_some(Stall(words))
    }
}
