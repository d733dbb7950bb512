// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The [`Desk`] under names that JavaScript calls. A caller writes a question into [`knee_room`], calls a function, and reads the answer
//! at [`knee_answer`] and its numbers at [`knee_numbers`], before it calls another.
//!
//! Nothing here reads memory by an address: it gives JavaScript the addresses.

#![allow(
    unsafe_code,
    reason = "the compiler cannot see whether a name that it does not change is another's, too"
)]

use std::cell::RefCell;

use crate::desk::Desk;

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

fn desk<T>(act: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(act)
}

/// Makes room for a question of this many bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn knee_room(bytes: usize) -> *mut u8 {
    desk(|desk| {
        desk.room.clear();
        desk.room.resize(bytes, 0);
        desk.room.as_mut_ptr()
    })
}

/// The address of the latest answer.
#[unsafe(no_mangle)]
pub extern "C" fn knee_answer() -> *const u8 {
    desk(|desk| desk.answer.as_ptr())
}

/// Its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn knee_answer_length() -> usize {
    desk(|desk| desk.answer.len())
}

/// The address of its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn knee_numbers() -> *const f32 {
    desk(|desk| desk.numbers.as_ptr())
}

/// Their number.
#[unsafe(no_mangle)]
pub extern "C" fn knee_numbers_length() -> usize {
    desk(|desk| desk.numbers.len())
}

/// [`Desk::check`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_check() {
    desk(Desk::check);
}

/// [`Desk::start`]: 1 if the run began.
#[unsafe(no_mangle)]
pub extern "C" fn knee_start() -> u32 {
    desk(|desk| u32::from(desk.start()))
}

/// [`Desk::step`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_step(until_s: f64) -> f64 {
    desk(|desk| desk.step(until_s))
}

/// [`Desk::look`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_look() {
    desk(Desk::look);
}

/// [`Desk::finish`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_finish() {
    desk(Desk::finish);
}

/// [`Desk::catalogue`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_catalogue() {
    desk(Desk::catalogue);
}

/// [`Desk::presets`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_presets() {
    desk(Desk::presets);
}

/// [`Desk::judge`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_judge() {
    desk(Desk::judge);
}

/// [`Desk::picture`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_picture() {
    desk(Desk::picture);
}

/// [`Desk::given`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_given() {
    desk(Desk::given);
}

/// [`Desk::replay`]
#[unsafe(no_mangle)]
pub extern "C" fn knee_replay() {
    desk(Desk::replay);
}
