//! Programs that run on hosts and react to each other: one file each, and one line each in the list below.
//!
//! A scenario describes a program as `[[workload.NAME]]`. A program has *members*, each of which runs on one host. A
//! [`Program`] is one member: it is told when it starts, when a message has arrived, when work has completed and
//! when a time has come, and asks for more by [`Posts`]. It sees nothing but its own host. What a program has, it
//! says in its own file: its keys, what is wrong with them, who is connected to whom, and the state of a member. From
//! there follow the scenario's key, the schema, connections, runs, checkpoints and results.

mod exchange;
mod posts;

use core::fmt;
use core::ops::Range;
use std::path::{Path, PathBuf};

pub use posts::{Action, End, Over, Posts, Verb};
use rocelab_collective::Kind;
use rocelab_state::State;
use rocelab_units::SimTime;

use crate::MarkingConfig;
use crate::congestion_control::{Algorithm, InvalidParameter};

/// Makes modules and names; and the macro `with_programs`, by which the crates above make the scenario's keys, the schema
/// and the kinds of workloads. Each module has a type `Parameters`, which implements [`Definition`].
macro_rules! programs {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(pub mod $module;)*

        /// The names that a scenario may use.
        pub const NAMES: &[&str] = &[$($name),*];

        /// Calls the macro `$then` with `$own`, which is in braces, and the list of programs: the documentation of
        /// each, its name as a type, the scenario's key and the module.
        #[macro_export]
        macro_rules! with_programs {
            ($then:ident $own:tt) => {
                $then! { $own $($(#[doc = $doc])* $variant = $name => $module,)* }
            };
        }
    };
}

programs! {
    /// Hosts in a ring add their data up.
    AllReduce = "all-reduce" => all_reduce,
    /// Ranks exchange data as collective operations do.
    Collective = "collective" => collective,
    /// Ranks do what a trace of an AI workload says.
    Trace = "trace" => trace,
}

/// Receive requests of an end of a connection, if a program says nothing else: messages of a connection arrive one after the
/// other, so a few are always enough.
const RECEIVE_DEPTH: u32 = 16;

/// What can be asked of a program by its keys. Implemented by the `Parameters` of each.
pub trait Definition: fmt::Debug + Send + Sync {
    /// The keys that every program has.
    fn common(&self) -> Common<'_>;

    /// `congestion_control`, to set it otherwise, if it has that key.
    fn congestion_control_mut(&mut self) -> Option<&mut Algorithm> {
        None
    }

    /// `marking`: the code points of its frames, if it has that key.
    fn marking(&self) -> Option<&MarkingConfig> {
        None
    }

    /// The keys that name its hosts, each with the names or ranges of names that it has. Members are numbered in
    /// this order; a host may be a member for each of the keys.
    fn hosts(&self) -> Vec<(&'static str, &[String])>;

    /// The files that it reads, as the scenario names them, each with its key. Those that it names by a prefix are looked
    /// for in `folder`, the scenario's own.
    fn files(&self, folder: &Path) -> Vec<(&'static str, PathBuf)> {
        _ = folder;
        Vec::new()
    }

    /// The keys that name files, to name them otherwise.
    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    /// Reads the files that it names, relative to `folder`. Whoever asks for more than the keys themselves does this first.
    ///
    /// # Errors
    /// What is wrong with them, or with keys that they depend on.
    fn read(&mut self, folder: &Path, members: &Members) -> Result<(), InvalidParameter> {
        _ = (folder, members);
        Ok(())
    }

    /// The first thing that is wrong with the other keys.
    ///
    /// # Errors
    /// That.
    fn validate(&self, members: &Members) -> Result<(), InvalidParameter>;

    /// Who is connected to whom, by number: a client and a server each time. A pair that is there several times has as
    /// many queue pairs, each with a source port of its own. Every member has at least one connection.
    fn connections<'a>(&'a self, members: &'a Members)
    -> Box<dyn Iterator<Item = (u32, u32)> + 'a>;

    /// What the results tell of.
    fn operations(&self, members: &Members) -> Operations;

    /// What its operations are, if they are collective.
    fn collective(&self, members: &Members) -> Option<CollectiveFacts> {
        _ = members;
        None
    }

    /// The largest message that a member gets (bytes).
    fn largest_message(&self, members: &Members) -> u32;

    /// Receive requests that each end of a connection posts. Each is posted again as soon as the program knows of its
    /// message.
    fn receive_depth(&self, members: &Members) -> u32 {
        _ = members;
        RECEIVE_DEPTH
    }

    /// One of the members, as it stands before the start.
    fn member(&self, members: &Members, number: u32) -> Box<dyn Program>;
}

/// The keys that every program has.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// `name`: what the results call it.
    pub name: Option<&'a str>,
    /// `start`: when its members start.
    pub start: SimTime,
    /// `priority`: 0 to 7.
    pub priority: Option<u8>,
    /// `congestion_control`: how its connections react to congestion.
    pub congestion_control: Option<&'a Algorithm>,
}

/// The operations of a program: what its members do again and again, and the results have a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// What the results call one.
    pub kind: &'static str,
    /// Payload that the messages of one carry (bytes).
    pub payload: u64,
    /// How many there will be of all members together, if that is known.
    pub planned: Option<u64>,
}

/// What the results say of collective operations: each member has its own part in operation number k of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveFacts {
    /// What is done.
    pub kind: Kind,
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// How data are laid out on the wire.
    pub protocol: &'static str,
    /// Channels.
    pub channels: u32,
    /// Members of a group: consecutive ones.
    pub ranks: u32,
    /// The root, by its number in the group.
    pub root: u32,
    /// Size, as [`Kind`] says (bytes).
    pub bytes: u64,
    /// How many of the first operations do not count.
    pub warmup: u64,
}

/// The numbers of members, by the key that names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members(Vec<Range<u32>>);

impl Members {
    /// Those of keys that name so many hosts each.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0_u32;
        let ranges = sizes.into_iter().map(|size| {
            let start = end;
            end = end.saturating_add(u32::try_from(size).unwrap_or(u32::MAX));
            start..end
        });
        Self(ranges.collect())
    }

    /// The members that key number `key` of [`Definition::hosts`] names.
    pub fn of(&self, key: usize) -> Range<u32> {
        self.0.get(key).cloned().unwrap_or_default()
    }

    /// All members.
    pub fn count(&self) -> u32 {
        self.0.last().map_or(0, |range| range.end)
    }
}

/// One member of a program. Its state is saved in checkpoints.
pub trait Program: fmt::Debug + Send + State {
    /// The program starts. No other member has posted anything yet.
    fn on_start(&mut self, posts: &mut Posts<'_>);

    /// A message of another member has arrived, in a receive request that is posted again.
    fn on_arrival(&mut self, message: Message, posts: &mut Posts<'_>);

    /// Work that it posted has completed.
    fn on_completion(&mut self, work: Completed, posts: &mut Posts<'_>) {
        _ = (work, posts);
    }

    /// A time that it waited for has come.
    fn on_timer(&mut self, tag: u64, posts: &mut Posts<'_>) {
        _ = (tag, posts);
    }

    /// The member whose message its open operation waits for, if it knows: what a run says of it that is stuck.
    fn waits_for(&self) -> Option<u32> {
        None
    }

    /// Whether no operation is open here, nor to come. The run goes on until all members say so: one that only
    /// answers others says so from the beginning.
    fn is_over(&self) -> bool;
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The member that posted it.
    pub from: u32,
    /// What that member gave it along.
    pub tag: u64,
    /// Its payload (bytes).
    pub bytes: u32,
}

/// Work that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The member at the other end.
    pub to: u32,
    /// What was given along as it was posted.
    pub tag: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_numbered_by_key() {
        let members = Members::new([2, 0, 3]);
        assert_eq!([members.of(0), members.of(1), members.of(2)], [0..2, 2..2, 2..5]);
        assert_eq!((members.count(), members.of(3)), (5, 0..0));
    }
}
