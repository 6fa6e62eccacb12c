//! What a run counts.

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Data packets that applications handed to their NICs.
    pub packets: u64,
    /// Data packets that started on a link, again if they were sent again.
    pub packet_hops: u64,
    /// Packets of all kinds that started on a link.
    pub frame_hops: u64,
    /// Events.
    pub events: u64,
    /// Data packets that reached their host.
    pub received: u64,
    /// Data packets that were in order there.
    pub in_order: u64,
    /// Data packets that were there before.
    pub duplicates: u64,
    /// Data packets that came before another one was there.
    pub out_of_order: u64,
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
