//! What hosts add to a flow that is alone.

use rocelab_units::{Duration, SimTime};

use crate::path::{Arriving, HostPath, Kind, Posted};
use crate::profile::HostProfile;

/// A flow between two hosts, of which each may take time.
#[derive(Clone, Copy, Debug)]
pub struct Alone<'a> {
    /// The host that posts, if it takes time.
    pub near: Option<&'a HostProfile>,
    /// The other one.
    pub far: Option<&'a HostProfile>,
    /// Which way payload goes.
    pub kind: Kind,
    /// Payload of its first message (bytes).
    pub first: u32,
    /// Payload of its last packet (bytes).
    pub last: u32,
    /// Whether it is over when an answer has come, and not when the other host has it.
    pub is_answered: bool,
}

impl Alone<'_> {
    /// What hosts add to the time that the network takes, at the least: nothing waits, and caches miss nothing.
    pub fn added(&self) -> Duration {
        let posted = Posted { index: 0, kind: self.kind, bytes: self.first };
        let ready = self.near.map_or(SimTime::ZERO, |near| {
            let mut near = idle(near);
            let taken_up = near.post(SimTime::ZERO, posted);
            near.take_up(taken_up, posted)
        });
        let is_read = self.kind == Kind::Inbound;
        let request = frame(if is_read { 0 } else { self.last });
        let request =
            Arriving { is_request: true, reads: if is_read { self.first } else { 0 }, ..request };
        if !self.is_answered {
            return ready.since(SimTime::ZERO) + through(self.far, &request, true);
        }
        let answer = frame(if is_read { self.last } else { 0 });
        let answered = through(self.far, &request, false);
        ready.since(SimTime::ZERO) + answered + found(self.near, &answer, is_read)
    }
}

/// The same host without what makes it slower at times.
fn idle(profile: &HostProfile) -> HostPath {
    let mut profile = profile.clone();
    profile.caches.contexts = None;
    profile.caches.translations = None;
    profile.memory.contention.clear();
    profile.memory.paging = None;
    HostPath::new(profile, 0)
}

fn frame(payload: u32) -> Arriving {
    Arriving {
        index: 0,
        frame_len: 0,
        payload,
        begins: true,
        is_request: false,
        reads: 0,
        is_atomic: false,
        credited: false,
    }
}

/// How long a request takes until its answer leaves, or until the program has it.
fn through(profile: Option<&HostProfile>, frame: &Arriving, to_program: bool) -> Duration {
    let Some(profile) = profile else { return Duration::ZERO };
    if to_program {
        return found(Some(profile), frame, true);
    }
    let accepted = idle(profile).accept(SimTime::ZERO, frame);
    accepted.map_or(Duration::ZERO, |accepted| accepted.at.since(SimTime::ZERO))
}

/// How long a frame takes until the program knows of it.
fn found(profile: Option<&HostProfile>, frame: &Arriving, with_payload: bool) -> Duration {
    let Some(profile) = profile else { return Duration::ZERO };
    let mut path = idle(profile);
    let Some(accepted) = path.accept(SimTime::ZERO, frame) else { return Duration::ZERO };
    path.note_reached(0, accepted.written);
    path.complete(accepted.at, 0, with_payload).since(SimTime::ZERO)
}
