// SPDX-License-Identifier: Apache-2.0 OR MIT
//! QUIC stacks as another engine of a session, in a build that has them.

#[cfg(feature = "quic")]
mod own;

#[cfg(feature = "quic")]
pub use own::given;

/// A session's additional input: nothing, as this build has no stack.
#[cfg(not(feature = "quic"))]
pub fn given() -> kneepoint_bench::session::Given {
    kneepoint_bench::session::Given::default()
}
