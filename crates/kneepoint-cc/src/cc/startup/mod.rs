// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How slow start may end before a loss ends it.

crate::choice! {
    /// How the window grows below its threshold.
    pub enum SlowStart {
        /// As the controller itself has it: HyStart for CUBIC as Linux has it, doubling for all others.
        Own = "own",
        /// It doubles every round trip until the threshold or a loss (RFC 5681 §3.1).
        Doubling = "doubling",
        /// It doubles until trains of acknowledgements or rising delays say that the path is full (Linux's `tcp_cubic`).
        HyStart = "hystart",
        /// It doubles until delays rise, then grows slowly for some rounds to see whether they fall again (RFC 9406).
        HyStartPp = "hystart++",
    }
}
