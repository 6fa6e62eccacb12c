//! Hosts that take time.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `hosts.csv`: what a host did that takes time. The file exists if the scenario has `[[host_model]]`; there is a
    /// row for each host that it is about.
    pub struct HostRecord<'a> as "hosts" in "hosts.csv" {
        /// The host.
        host: Cow<'a, str>;
        /// How often a doorbell rang.
        doorbells: u64;
        /// Over PCIe from the NIC to memory, headers included: payload, completions, and requests of reads.
        pcie_up_bytes: u64 => "bytes";
        /// Over PCIe from memory and processors to the NIC, headers included: doorbells, and what was read.
        pcie_down_bytes: u64 => "bytes";
        /// Contexts of queue pairs that the NIC had.
        context_hits: u64;
        /// Contexts of queue pairs that it read from memory.
        context_misses: u64;
        /// Translations that the NIC had; 0 where it does not matter where messages lie.
        translation_hits: u64;
        /// Translations that it read from memory.
        translation_misses: u64;
        /// Translations that the IOMMU had; 0 without one.
        iommu_hits: u64;
        /// Page walks of the IOMMU.
        iommu_misses: u64;
        /// The most that was in the NIC's buffer at one time.
        peak_buffer_bytes: u64 => "bytes";
        /// The sum of the times that payload waited in the NIC for memory.
        memory_wait_ps: u64 => "ps";
        /// How often the NIC asked for pauses.
        pauses: u64;
    }
}
