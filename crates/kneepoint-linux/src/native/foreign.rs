// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The structures and functions of `bpf/native.c`.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

/// `struct ack`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    pub now: u64,
    pub rtt: u64,
    pub una: u32,
    pub next: u32,
    pub acked: u32,
    pub random: u32,
    pub in_flight: u32,
    pub recovering: u8,
}

/// `struct window`.
#[repr(C)]
#[derive(Debug)]
pub struct Window {
    pub packets: u64,
    pub ssthresh: u64,
}

/// `struct parameter`.
#[repr(C)]
pub struct Parameter {
    name: *const c_char,
    kind: *const c_char,
    pub place: u64,
    pub value: u64,
}

/// `struct algorithm`. State and parameters are memory of the given sizes, aligned to eight bytes.
#[repr(C)]
pub struct Algorithm {
    name: *const c_char,
    list: *const Parameter,
    listed: u64,
    pub state: u64,
    pub parameters: u64,
    pub open: unsafe extern "C" fn(*mut c_void, *const c_void, u64),
    pub acknowledge: unsafe extern "C" fn(*mut c_void, *const c_void, *const Ack, u64),
    pub loss: unsafe extern "C" fn(*mut c_void, *const c_void, *const Ack, u64),
    pub timeout: unsafe extern "C" fn(*mut c_void, *const c_void, *const Ack, u64, u8),
    pub advise: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    pub window: unsafe extern "C" fn(*mut c_void) -> *mut Window,
    _tell: unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void),
}

// SAFETY: the table and all it points to are constants.
unsafe impl Sync for Algorithm {}

unsafe extern "C" {
    static knee_algorithms: Algorithm;
    static knee_algorithm_count: u64;
    safe fn knee_product(a: u64, b: u64) -> u64;
    safe fn knee_quotient(a: u64, b: u64) -> u64;
}

/// Every algorithm.
pub fn algorithms() -> &'static [Algorithm] {
    // SAFETY: the C side declares an array of this length, and neither changes.
    unsafe { slice::from_raw_parts(&raw const knee_algorithms, knee_algorithm_count as usize) }
}

fn text(text: *const c_char) -> &'static str {
    // SAFETY: the tables hold string literals.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

impl Parameter {
    pub fn name(&self) -> &'static str {
        text(self.name)
    }
    /// The typedef of its type.
    pub fn kind(&self) -> &'static str {
        text(self.kind)
    }
}

impl Algorithm {
    pub fn name(&self) -> &'static str {
        text(self.name)
    }
    pub fn list(&self) -> &'static [Parameter] {
        // SAFETY: as in `algorithms`.
        unsafe { slice::from_raw_parts(self.list, self.listed as usize) }
    }
}

/// a b, where b has 32 fractional bits.
pub fn product(a: u64, b: u64) -> u64 {
    knee_product(a, b)
}

/// a / b with 32 fractional bits.
pub fn quotient(a: u64, b: u64) -> u64 {
    knee_quotient(a, b)
}
