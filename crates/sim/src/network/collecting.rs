//! What one who runs a part of a network takes from it between two windows, and tells it.

use std::io;

use rocelab_engine::{EventKey, Tie};

use super::capture::{Capture, CapturedFrame};
use super::core::Network;
use super::course::Course;
use super::sampling::Sampling;
use crate::Plan;
use crate::profile::Profile;
use crate::record::{Deadlock, FlowEnd, Record, RecordKind};

/// A part of a network between two windows.
#[derive(Debug)]
pub(crate) struct Collecting<'a, P: Profile> {
    plan: &'a Plan,
    course: &'a mut Course<P>,
    sampling: &'a mut Sampling,
    capture: Option<&'a mut Capture>,
}

impl<P: Profile> Network<P> {
    /// What is taken from this part between two windows.
    pub(crate) fn collecting(&mut self) -> Collecting<'_, P> {
        let Self { plan, course, features, .. } = self;
        let (sampling, capture) =
            (&mut features.sampling, features.arrivals.capture.as_deref_mut());
        Collecting { plan, course, sampling, capture }
    }
}

impl<P: Profile> Collecting<'_, P> {
    /// The records since the last time.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        self.course.records.take()
    }

    /// Hands over what was captured since the last time.
    ///
    /// # Errors
    /// The first frame that cannot be one on the wire: a defect.
    pub(crate) fn take_captured(&mut self) -> io::Result<Vec<CapturedFrame>> {
        self.capture.as_mut().map_or_else(|| Ok(Vec::new()), |capture| capture.take())
    }

    /// A flow of an unreliable service, whose source is here, is over: what has not arrived by now is
    /// lost. Nobody waits for it for ever.
    pub(crate) fn end_lost_flow(&mut self, end: &FlowEnd) {
        let course = &mut *self.course;
        if let Some(ends) = &mut course.flow_ends {
            ends.note(end.flow, end.status);
        }
        course.flows.failed += 1;
        course.flows.last_end = course.flows.last_end.max(end.finished);
        let key = EventKey { time: end.finished, tie: Tie::default() };
        let source = self.plan.flows[end.flow as usize].source;
        course.records.keep(source, Record { key, kind: RecordKind::FlowEnd(*end) });
    }

    /// The source of a flow knows that it has ended, well or badly.
    pub(crate) fn note_sampled_end(&mut self, flow: u32) {
        self.sampling.note_end(self.plan.flows[flow as usize].source, flow);
    }

    /// Has the digest cover a deadlock that was found, the first queue of which is here.
    pub(crate) fn note_deadlock(&mut self, found: &Deadlock) {
        self.course.records.cover_deadlock(found);
    }
}
