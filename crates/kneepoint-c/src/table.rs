// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The structures of `include/knee_controller.h`, and a controller made of its table.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use kneepoint::cc::external::Object;
use kneepoint::cc::{External, Marks};
use kneepoint::settings::NoParameters;

use crate::flow::{Fault, Flow};
use crate::trial;

/// The greatest state of a flow, in bytes.
const LARGEST: usize = 64 << 10;

/// `struct knee_start`.
#[repr(C)]
pub(crate) struct Start {
    pub window: f64,
    pub ssthresh: f64,
}

/// `struct knee_ack`.
#[repr(C)]
pub(crate) struct Ack {
    pub now_ns: u64,
    pub rtt_ns: u64,
    pub delivered: u64,
    pub una: u64,
    pub next: u64,
    pub credit: f64,
    pub random: f64,
    pub acked: u32,
    pub marked: u32,
    pub in_flight: u32,
    pub limited: bool,
    pub recovering: bool,
}

/// `struct knee_event`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub now_ns: u64,
    pub flight: f64,
    pub una: u64,
    pub next: u64,
    pub reported: bool,
}

/// `struct knee_resize`.
#[repr(C)]
pub(crate) struct Resize {
    pub now_ns: u64,
    pub window: f64,
    pub ssthresh: f64,
}

/// `struct knee_control`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Control {
    pub window: f64,
    pub packets_per_s: f64,
}

/// The part that no host can use, or the window.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match WINDOWS.contains(&self.window) {
            true => write!(f, "a rate of {} packets/s", self.packets_per_s),
            false => write!(f, "a window of {}", self.window),
        }
    }
}

/// Windows that a host can use, in packets.
pub(crate) const WINDOWS: RangeInclusive<f64> = 1.0..=1e6;

/// A signal with one argument.
pub(crate) type Told<T> = unsafe extern "C" fn(*mut c_void, *const T);

/// `struct knee_controller`. A function that is absent is a null pointer.
#[repr(C)]
pub struct Table {
    name: *const c_char,
    about: *const c_char,
    version: *const c_char,
    state: usize,
    marks: u32,
    open: Option<Told<Start>>,
    on_ack: Option<Told<Ack>>,
    on_loss: Option<Told<Event>>,
    on_timeout: Option<Told<Event>>,
    on_mark: Option<Told<Event>>,
    on_resize: Option<Told<Resize>>,
    on_resume: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    control: Option<unsafe extern "C" fn(*const c_void, *mut Control)>,
}

// SAFETY: the table and all it points to are constants, by the header.
unsafe impl Sync for Table {}

/// A table that was checked: its functions keep the header's rules, by the promise to [`of`].
#[derive(Clone, Copy)]
pub(crate) struct Checked {
    pub name: &'static str,
    pub state: usize,
    pub marks: Marks,
    pub open: Told<Start>,
    pub on_ack: Told<Ack>,
    pub on_loss: Told<Event>,
    pub on_timeout: Told<Event>,
    pub on_mark: Option<Told<Event>>,
    pub on_resize: Option<Told<Resize>>,
    pub on_resume: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub control: unsafe extern "C" fn(*const c_void, *mut Control),
}

/// A table that cannot be an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A text is missing or not UTF-8, or the name has other characters than small letters, digits and dashes.
    Text(&'static str),
    /// A required function is a null pointer.
    Absent(&'static str, &'static str),
    /// A number is outside its range: the field, the number, the greatest one.
    Range(&'static str, &'static str, usize, usize),
    /// An answer that no host can use: the controller, the answer, the signal before it.
    Answer(&'static str, String, &'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refused::Text("name") => f.write_str(
                "`name` of a knee_controller must be small letters, digits and dashes, a letter first",
            ),
            Refused::Text(field) => write!(f, "`{field}` of a knee_controller must be a text in UTF-8"),
            Refused::Absent(name, field) => {
                write!(f, "`{name}` in C has no function `{field}`: it is required")
            }
            Refused::Range(name, field, given, most) => {
                write!(f, "`{name}` in C has {field} = {given}; allowed is at most {most}")
            }
            Refused::Answer(name, answer, signal) => {
                write!(
                    f,
                    "`{name}` in C answers {answer} after {signal}; a window is from 1 to 1e6 packets, a rate finite and not negative"
                )
            }
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for String {
    fn from(refused: Refused) -> String {
        refused.to_string()
    }
}

/// A text of a table; none if it is a null pointer.
///
/// # Safety
///
/// `text` is a null pointer or a string that never changes.
unsafe fn text(text: *const c_char, field: &'static str) -> Result<Option<&'static str>, Refused> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: by this function's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map(Some).map_err(|_| Refused::Text(field))
}

/// The controller of a table, once its functions have been tried.
///
/// # Safety
///
/// The table and its strings never change, and its functions keep the rules of `knee_controller.h`.
pub unsafe fn of(table: *const Table) -> Result<External, Refused> {
    // SAFETY: by this function's promise.
    let table: &'static Table = unsafe { &*table };
    // SAFETY: by this function's promise.
    let [name, about, version] =
        unsafe { [text(table.name, "name")?, text(table.about, "about")?, text(table.version, "version")?] };
    let checked = table.check(name.unwrap_or_default())?;
    trial::passes(&checked)?;
    // The text lives as long as the program, as a header that is compiled in does.
    let about = about.ok_or(Refused::Text("about"))?;
    let source = Box::leak(format!("//! {about}\n//!\n//! Written in C.\n").into_boxed_str());
    let fault = Fault::default();
    let flows = Arc::clone(&fault);
    let make = move |_: NoParameters, start| {
        Box::new(Flow::new(checked, start, Arc::clone(&flows))) as Box<dyn Object>
    };
    let made = External::new(checked.name, source, make).watched(move || fault.get().cloned());
    Ok(match version {
        Some(version) => made.versioned(version),
        None => made,
    })
}

impl Table {
    fn check(&self, name: &'static str) -> Result<Checked, Refused> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
            return Err(Refused::Text("name"));
        }
        if self.state > LARGEST {
            return Err(Refused::Range(name, "state", self.state, LARGEST));
        }
        let marks = match self.marks {
            0 => Marks::Classic,
            1 => Marks::Each,
            2 => Marks::Scalable,
            other => return Err(Refused::Range(name, "marks", other as usize, 2)),
        };
        Ok(Checked {
            name,
            state: self.state,
            marks,
            open: self.open.ok_or(Refused::Absent(name, "open"))?,
            on_ack: self.on_ack.ok_or(Refused::Absent(name, "on_ack"))?,
            on_loss: self.on_loss.ok_or(Refused::Absent(name, "on_loss"))?,
            on_timeout: self.on_timeout.ok_or(Refused::Absent(name, "on_timeout"))?,
            on_mark: self.on_mark,
            on_resize: self.on_resize,
            on_resume: self.on_resume,
            control: self.control.ok_or(Refused::Absent(name, "control"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn open(_: *mut c_void, _: *const Start) {}
    unsafe extern "C" fn on_ack(_: *mut c_void, _: *const Ack) {}
    unsafe extern "C" fn on_event(_: *mut c_void, _: *const Event) {}
    unsafe extern "C" fn four(_: *const c_void, control: *mut Control) {
        // SAFETY: the caller passes a place.
        unsafe { *control = Control { window: 4.0, packets_per_s: 0.0 } };
    }
    unsafe extern "C" fn nothing(_: *const c_void, control: *mut Control) {
        // SAFETY: the caller passes a place.
        unsafe { *control = Control { window: f64::NAN, packets_per_s: 0.0 } };
    }

    /// Counts losses in the state.
    unsafe extern "C" fn counted(state: *mut c_void, _: *const Event) {
        // SAFETY: the table has room for the number.
        unsafe { *state.cast::<u64>() += 1 };
    }
    unsafe extern "C" fn until_a_hundred(state: *const c_void, control: *mut Control) {
        // SAFETY: as above, and the caller passes a place.
        unsafe {
            let window = if *state.cast::<u64>() < 100 { 4.0 } else { -4.0 };
            *control = Control { window, packets_per_s: 0.0 };
        }
    }

    const FOUR: Table = Table {
        name: c"four".as_ptr(),
        about: c"Four: a window of four packets.".as_ptr(),
        version: std::ptr::null(),
        state: 0,
        marks: 0,
        open: Some(open),
        on_ack: Some(on_ack),
        on_loss: Some(on_event),
        on_timeout: Some(on_event),
        on_mark: None,
        on_resize: None,
        on_resume: None,
        control: Some(four),
    };

    fn made(table: Table) -> Result<External, String> {
        let table = Box::leak(Box::new(table));
        // SAFETY: it lives as long as the program, and its functions do as the header says.
        Ok(unsafe { of(table) }?)
    }

    #[test]
    fn a_table_is_an_algorithm_with_its_name_and_line() {
        let four = made(FOUR).unwrap();
        assert_eq!((four.name(), four.version()), ("four", None));
        assert_eq!(four.entry().summary(), "Four: a window of four packets.");
        let built = kneepoint::cc::Config::from(four).build(kneepoint::cc::Start::new(10.0));
        assert_eq!(built.control().window, 4.0);
        assert_eq!(made(Table { version: c"2".as_ptr(), ..FOUR }).unwrap().version(), Some("2"));
    }

    #[test]
    fn a_refusal_names_the_field_and_what_is_allowed() {
        let refused = |table| made(table).unwrap_err();
        assert!(refused(Table { name: c"Four".as_ptr(), ..FOUR }).contains("small letters"));
        assert!(refused(Table { name: std::ptr::null(), ..FOUR }).contains("small letters"));
        assert!(refused(Table { about: c"\xff".as_ptr(), ..FOUR }).starts_with("`about`"));
        assert_eq!(
            refused(Table { on_loss: None, ..FOUR }),
            "`four` in C has no function `on_loss`: it is required"
        );
        assert_eq!(
            refused(Table { state: 65_537, ..FOUR }),
            "`four` in C has state = 65537; allowed is at most 65536"
        );
        assert!(refused(Table { marks: 3, ..FOUR }).contains("marks = 3"));
        let answer = refused(Table { control: Some(nothing), ..FOUR });
        assert!(answer.starts_with("`four` in C answers a window of NaN after open"), "{answer}");
    }

    #[test]
    fn an_answer_that_no_host_can_use_is_a_fault_of_the_controller() {
        let table = Table { state: 8, on_loss: Some(counted), control: Some(until_a_hundred), ..FOUR };
        let four = made(table).unwrap();
        let mut flow = four.build(kneepoint::cc::Start::new(10.0));
        let loss = kneepoint::cc::Loss { now: kneepoint::units::Time::ZERO, flight: 4.0, una: 0, next: 4 };
        (0..99).for_each(|_| flow.on_loss(&loss));
        assert_eq!(four.fault(), None);
        flow.on_loss(&loss);
        let fault = four.fault().unwrap();
        assert!(fault.starts_with("`four` in C answers a window of -4 after on_loss"), "{fault}");
        assert_eq!(flow.control().window, 4.0);
    }
}
