// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Genes: the numbers of a network that a search may change, each with its unit.

crate::choice! {
    /// A number of a network.
    pub enum Gene {
        /// Rate of the bottleneck in a step, in kbit/s.
        Rate = "rate_kbps",
        /// One-way delay of the bottleneck in a step, in milliseconds.
        Delay = "delay_ms",
        /// Length of a step, in milliseconds.
        Lasting = "lasting_ms",
        /// Buffer of the bottleneck, in packets.
        Buffer = "buffer_packets",
        /// Packets that the bottleneck loses, in a million.
        Loss = "loss_ppm",
        /// Greatest random delay of the bottleneck, in order, in microseconds.
        Jitter = "jitter_us",
        /// Time between two batches of acknowledgements on the reverse path, in microseconds.
        Aggregation = "aggregation_us",
        /// Rate of a burst of cross traffic, in kbit/s.
        Burst = "burst_kbps",
        /// Start of the burst, in milliseconds.
        BurstStart = "burst_start_ms",
        /// Length of the burst, in milliseconds.
        BurstLasting = "burst_lasting_ms",
        /// The additional round-trip time of one of two flows, in milliseconds.
        OddDelay = "odd_delay_ms",
        /// Greatest random delay of the odd flow's sender, in order, in microseconds.
        OddJitter = "odd_jitter_us",
        /// Start of the rival, in milliseconds.
        RivalStart = "rival_start_ms",
    }
}

impl Gene {
    /// Whether each step of a network has its own number.
    pub fn stepwise(self) -> bool {
        matches!(self, Gene::Rate | Gene::Delay | Gene::Lasting)
    }

    /// Whether zero means absence.
    pub fn optional(self) -> bool {
        !self.stepwise() && !matches!(self, Gene::Buffer | Gene::BurstStart | Gene::BurstLasting)
    }

    /// The place in tables by gene.
    pub fn place(self) -> usize {
        self as usize
    }
}

/// The number of genes.
pub const GENES: usize = Gene::ALL.len();
