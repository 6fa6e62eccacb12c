//! What a flow may be.

use rocelab_units::Bytes;

use crate::scenario::{Fault, ensure};

/// The most bytes of one message (IBTA: message sizes are at most 2^31).
pub const MAX_MESSAGE_BYTES: u64 = 1 << 31;

/// The most bytes of one flow: 2^48, more than an hour at 400 Gb/s.
const MAX_FLOW_BYTES: u64 = 1 << 48;

/// What a flow may be, by whose rules it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowRules {
    /// RoCE's.
    Roce,
    /// Those of HPCC's ns-3 simulator: sizes count in 32 bits, and class 0 is PFC's own.
    HpccNs3,
}

impl FlowRules {
    /// Refuses sizes that no flow can have.
    pub(crate) fn check_bytes(self, key: &str, bytes: u64) -> Result<(), Fault> {
        check_bytes(key, bytes)?;
        ensure(self == Self::Roce || u32::try_from(bytes).is_ok(), || {
            let size = Bytes::new(bytes);
            Fault::at(key, format!("{size} do not fit 32 bits, in which HPCC's simulator counts"))
                .value(bytes)
                .help("give at most 4294967295B, or make several flows of it")
        })
    }

    /// Refuses priorities that no flow can have.
    pub(crate) fn check_priority(self, key: &str, priority: u8) -> Result<(), Fault> {
        ensure(priority <= 7, || {
            Fault::at(key, format!("priority {priority} does not exist"))
                .help("use a priority from 0 to 7")
        })?;
        ensure(self == Self::Roce || priority > 0, || {
            Fault::at(key, "class 0 is for pause frames alone in HPCC's simulator")
                .value(priority)
                .help("use a priority from 1 to 7, such as 3")
        })
    }
}

/// Refuses sizes that no flow can have under any rules.
pub(crate) fn check_bytes(key: &str, bytes: u64) -> Result<(), Fault> {
    ensure(bytes > 0, || {
        Fault::at(key, "a flow of 0 bytes sends nothing").help("give at least 1B")
    })?;
    ensure(bytes <= MAX_FLOW_BYTES, || {
        Fault::at(key, format!("{} do not end within a run", Bytes::new(bytes)))
            .help("give at most 256TiB")
    })
}
