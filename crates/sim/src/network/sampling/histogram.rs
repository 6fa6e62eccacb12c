//! Histograms of queue lengths, as HPCC's ns-3 simulator counts them (`QLEN_MON_FILE`).

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::super::port::NetworkPort;
use super::samplers::{Measured, Sampler, Sampling, Timing};
use crate::plan::QueueMonitor;
use crate::profile::Profile;

/// Bytes of a bin.
const BIN: u64 = 1_000;

/// How often the queues of a port, together, had which length.
#[derive(Debug)]
pub(in crate::network) struct QueueHistogram {
    /// The port, by its place among all ports.
    port: u32,
    /// Looks by length, in units of [`BIN`].
    counts: Vec<u64>,
    /// What had been counted at each dump.
    dumps: Vec<(SimTime, Vec<u64>)>,
}

/// What had been counted of a switch's port at a dump: a line of `qlen.txt`.
#[derive(Debug)]
pub(crate) struct QueueHistogramDump<'a> {
    pub(crate) time: SimTime,
    pub(crate) switch: NodeId,
    /// Counted from 0.
    pub(crate) port: u16,
    pub(crate) counts: &'a [u64],
}

impl QueueHistogram {
    /// Of a port that nobody has looked at.
    pub(super) fn new(port: u32) -> Self {
        Self { port, counts: Vec::new(), dumps: Vec::new() }
    }

    /// Looks at the port at a time: what waits there, without the frame on the wire.
    pub(super) fn look<P: Profile>(&mut self, ports: &[NetworkPort<P>], now: SimTime) {
        let port = &ports[self.port as usize].port;
        let bytes: u64 = (0..8).map(|priority| u64::from(port.queued(priority))).sum();
        let bin = usize::try_from(bytes / BIN).unwrap_or(usize::MAX);
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        if QueueMonitor::is_dump(now) {
            self.dumps.push((now, self.counts.clone()));
        }
    }
}

impl Sampling {
    /// Looks on when nothing moves any more, as often as there was time until `stop`. Who simulates ends the run then;
    /// HPCC's simulator goes on.
    pub(super) fn finish_histograms<P: Profile>(
        &mut self,
        ports: &[NetworkPort<P>],
        stop: Option<SimTime>,
    ) {
        for Sampler { last, timing, what, .. } in &mut self.samplers {
            let (Timing::Monitor(monitor), Measured::Histograms(histograms)) = (*timing, what)
            else {
                continue;
            };
            let first = if histograms.iter().all(|one| one.counts.is_empty()) {
                Some(monitor.from)
            } else {
                monitor.next(*last)
            };
            let mut next = first;
            // What happens at the stop comes after it.
            while let Some(now) = next.filter(|now| stop.is_none_or(|stop| *now < stop)) {
                histograms.iter_mut().for_each(|one| one.look(ports, now));
                *last = now;
                next = monitor.next(now);
            }
        }
    }

    /// Every dump, in the order of switches and their ports, and of time for each.
    pub(in crate::network) fn histogram_dumps<'a, P: Profile>(
        &'a self,
        ports: &'a [NetworkPort<P>],
    ) -> impl Iterator<Item = QueueHistogramDump<'a>> {
        let histograms = self.samplers.iter().flat_map(|sampler| match &sampler.what {
            Measured::Histograms(histograms) => histograms.as_slice(),
            _ => &[],
        });
        histograms.flat_map(|histogram| {
            let port = &ports[histogram.port as usize];
            histogram.dumps.iter().map(|(time, counts)| QueueHistogramDump {
                time: *time,
                switch: port.node,
                port: port.number,
                counts,
            })
        })
    }
}
