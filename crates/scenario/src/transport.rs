//! `transport`: what carries the flows of a workload.

use rocelab_transport::Algorithm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fault, Verb, ensure};

/// What carries the flows of a workload.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Queue pairs, as `[roce]` says.
    #[default]
    Rdma,
    /// TCP connections, as `[tcp]` says: lossy, unless `tcp.priority` is a lossless one.
    Tcp,
}

impl Transport {
    /// The name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rdma => "rdma",
            Self::Tcp => "tcp",
        }
    }

    /// Whether it is the one that workloads have if they do not say.
    pub const fn is_rdma(&self) -> bool {
        matches!(self, Self::Rdma)
    }

    /// Refuses keys of a workload that mean nothing to its transport.
    pub fn check(
        self,
        verb: Verb,
        priority: Option<u8>,
        congestion_control: Option<&Algorithm>,
    ) -> Result<(), Fault> {
        if self.is_rdma() {
            return Ok(());
        }
        ensure(priority.is_none(), || {
            Fault::at("priority", "all TCP segments have one priority")
                .help("give `priority` in `[tcp]`, and leave it out here")
        })?;
        ensure(congestion_control.is_none(), || {
            Fault::at("congestion_control", "that is how RDMA reacts to congestion")
                .value("")
                .help("give `[tcp.congestion_control.NAME]`, and leave it out here")
        })?;
        check_verb(verb)
    }
}

/// Refuses what no TCP connection does: data goes from its source to its destination.
pub fn check_verb(verb: Verb) -> Result<(), Fault> {
    ensure(verb != Verb::Read, || {
        Fault::at("verb", "TCP sends, and reads no memory")
            .help("leave it out, and exchange the two hosts where data is to go the other way")
    })
}
