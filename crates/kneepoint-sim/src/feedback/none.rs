// SPDX-License-Identifier: Apache-2.0 OR MIT
//! None: the link gives senders no signal.

use super::Feedback;
use crate::queue::Facts;

crate::settings! {
    /// No feedback has no parameters.
    pub struct Params {}
}

/// No feedback.
#[derive(Clone, Debug)]
pub struct Nothing;

impl Feedback for Nothing {
    type Params = Params;

    fn new(_: Params, _: Facts) -> Nothing {
        Nothing
    }
    fn passive(&self) -> bool {
        true
    }
}
