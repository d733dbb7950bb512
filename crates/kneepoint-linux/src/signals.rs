// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The handling of signals before the process began.

use std::{mem, ptr};

/// Whether the process ignores a signal, as `nohup` and shells without job control arrange for their children.
pub fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zero is a value of every field; without a new action the call only writes the present one.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
