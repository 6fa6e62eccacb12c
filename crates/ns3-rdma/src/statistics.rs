//! What a run counts.

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Data packets that applications handed to their NICs.
    pub packets: u64,
    /// Packets that started on a link.
    pub hops: Hops,
    /// Events.
    pub events: u64,
    /// Data packets that reached their host.
    pub arrivals: Arrivals,
    /// Packets that switches marked.
    pub marks: u64,
    /// Congestion notification packets that hosts made.
    pub cnps: u64,
    /// Acknowledgements.
    pub acknowledgements: u64,
    /// Negative acknowledgements.
    pub negative_acknowledgements: u64,
    /// Pause frames that switches made.
    pub pauses: u64,
    /// Frames that end a pause.
    pub resumes: u64,
    /// Packets for which a switch had no memory.
    pub memory_drops: u64,
    /// Packets that links lost.
    pub losses: u64,
    /// Flows that sent again because they had waited too long.
    pub time_outs: u64,
}

/// Packets that started on a link, again if they were sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hops {
    /// Data.
    pub data: u64,
    /// Acknowledgements, negative ones too.
    pub acknowledgements: u64,
    /// CNPs and pause frames.
    pub control: u64,
}

/// Data packets that reached their host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// In order.
    pub in_order: u64,
    /// There before.
    pub duplicates: u64,
    /// Before another one was there.
    pub out_of_order: u64,
}

impl Arrivals {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.in_order + self.duplicates + self.out_of_order
    }
}
