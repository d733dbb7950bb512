// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HSTCP: Reno whose increase rises and whose decrease falls with the window, for windows of thousands of packets.
//!
//! S. Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649, 2003, §5 to §7, Appendix B.
//!
//! ```text
//! p(w) = 1 / (12.8 w^1.2)                                                  §5: the response function, inverted
//! b(w) = 1/2 + (high_decrease - 1/2) ln(w / low) / ln(high / low)          §5
//! a(w) = w² p(w) · 2 b(w) / (2 - b(w))                                     §5
//! W < S:   W += acked          W >= S:  W += a(W) · acked / W              §7
//! loss:    S = W = (1 - b(W)) W                                            §7
//! W <= low:  a = 1, b = 1/2: Reno
//! ```
//!
//! `W` window, `S` slow-start threshold, `low` = 38, `high` = 83000: packets; `a` packets per round trip.
//!
//! Readings: §5 fits p(w) through (38, 10⁻³) and (83000, 10⁻⁷) and prints it as 0.078 / w^1.2; the program of Appendix
//! B has 1 / 12.8 = 0.078125, and the table there follows from that, so that value is used for all `low` and `high`.
//! `a` is computed for the window in whole packets, is at least 1, and is not rounded; the table, which may be used
//! instead, rounds it down. Beyond `high` the line b(w) continues, as in the last rows of the table, down to half of
//! `high_decrease`.
//!
//! On Linux hosts as `tcp_highspeed` of Linux 6.12, which goes by the rows of the table: between two of them `a` is the greater
//! one's, and so is `b`, in whole 256ths. It counts acknowledgements, not packets: each adds a to a count that is worth a packet
//! from W on. The rest of an acknowledgement is dropped where slow start ends. The row is looked up as the window grows beyond slow
//! start, and a loss goes by the row of that moment: one in the first slow start halves.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::steady::{Losses, ResponseFunction, aimd};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;

crate::settings! {
    /// HSTCP's parameters.
    pub struct Params {
        /// Up to this window HSTCP is Reno, in packets.
        low_window: f64 = 38.0, 2.0..=100000.0;
        /// The window at which a loss takes off `high_decrease`, in packets.
        high_window: f64 = 83000.0, 3.0..=1000000000.0;
        /// The fraction by which a loss reduces the window at `high_window`.
        high_decrease: f64 = 0.1, 0.01..=0.5;
    }
    check |params: &Params| {
        if params.low_window < params.high_window {
            Ok(())
        } else {
            let Params { low_window, high_window, .. } = params;
            Err(format!("low_window = {low_window} is not below high_window = {high_window}: it must be"))
        }
    }
}

/// The fraction by which a loss reduces Reno's window.
const RENO_DECREASE: f64 = 0.5;

/// An HSTCP controller.
#[derive(Clone, Debug)]
pub struct HsTcp {
    params: Params,
    window: Window,
    /// The window in whole packets for which `increase` was computed.
    whole: u64,
    increase: f64,
    /// On Linux hosts.
    table: Option<Box<Table>>,
}

/// The table of Appendix B as far as the window has been, and Linux's count.
#[derive(Clone, Debug)]
struct Table {
    /// The greatest window of each row.
    rows: Vec<f64>,
    /// `a` of the last row.
    last: f64,
    /// The row of the window when it last grew beyond slow start.
    place: usize,
    count: f64,
}

impl Table {
    fn new(params: &Params) -> Table {
        Table { rows: vec![params.low_window], last: 1.0, place: 0, count: 0.0 }
    }

    /// The row of a window: how many rows are below it.
    fn row(&mut self, params: &Params, window: f64) -> usize {
        let mut known = self.rows.last().copied().unwrap_or(f64::INFINITY);
        while known < window && known < params.high_window {
            let Some(next) = first_beyond(params, known, self.last + 1.0) else { break };
            self.rows.push(next);
            self.last = increase(params, next);
            known = next;
        }
        self.rows.partition_point(|row| *row < window).min(self.rows.len() - 1)
    }

    /// The window after a loss.
    fn left(&self, params: &Params, window: f64) -> f64 {
        let parts = libm::floor(decrease(params, self.rows[self.place]) * 256.0);
        window - libm::floor(window * parts / 256.0)
    }
}

/// p(w): the loss rate at which the window is `w`.
fn loss_rate(window: f64) -> f64 {
    1.0 / (12.8 * libm::pow(window, 1.2))
}

/// b(w).
fn decrease(params: &Params, window: f64) -> f64 {
    if window <= params.low_window {
        return RENO_DECREASE;
    }
    let way = libm::log(window / params.low_window) / libm::log(params.high_window / params.low_window);
    (RENO_DECREASE + (params.high_decrease - RENO_DECREASE) * way).max(params.high_decrease / 2.0)
}

/// a(w).
fn increase(params: &Params, window: f64) -> f64 {
    if window <= params.low_window {
        return 1.0;
    }
    let b = decrease(params, window);
    (window * window * loss_rate(window) * 2.0 * b / (2.0 - b)).max(1.0)
}

/// The first window beyond `window` at which `a`, which rises, is above `bound`; none up to twice the greatest of the table.
fn first_beyond(params: &Params, window: f64, bound: f64) -> Option<f64> {
    let (mut below, mut above) = (window, 2.0 * params.high_window);
    while above - below > 1.0 {
        let middle = libm::floor((below + above) / 2.0);
        if increase(params, middle) > bound {
            above = middle;
        } else {
            below = middle;
        }
    }
    Some(above).filter(|found| increase(params, *found) > bound)
}

impl HsTcp {
    /// The window after a loss at `flight` packets.
    fn left(&self, flight: f64) -> f64 {
        match &self.table {
            Some(table) => table.left(&self.params, flight),
            None => flight * (1.0 - decrease(&self.params, flight)),
        }
    }

    /// The host restarts its count with every reduction.
    fn forget_count(&mut self) {
        if let Some(table) = &mut self.table {
            table.count = 0.0;
        }
    }

    /// Linux's growth.
    fn count(&mut self, ack: &Ack) {
        if self.window.slow_start() {
            self.window.start(ack);
            return;
        }
        let Some(table) = self.table.as_mut().filter(|_| ack.credit > 0.0) else { return };
        let window = self.window.packets;
        table.place = table.row(&self.params, window);
        table.count += table.place as f64 + 1.0;
        if table.count >= window {
            table.count -= window;
            self.window.packets += 1.0;
        }
    }
}

impl Controller for HsTcp {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "RFC 3649 §5, Table 2",
        formula: "0.12 / p^0.835; Reno's where p > 10⁻³",
        settings: &[],
        losses: Losses::Periodic,
        window: |p, _| if p > 1e-3 { aimd(1.0, RENO_DECREASE, p) } else { 0.12 / libm::pow(p, 0.835) },
        rates: &[1e-2, 1e-4, 1e-5, 1e-6],
        within: 0.01,
        because: "0.12 and 0.835 are rounded; a(w) and b(w) are made for one window, not for the range of a sawtooth",
    }];

    fn new(params: Params, start: Start) -> HsTcp {
        let table = (start.version == Version::Linux).then(|| Box::new(Table::new(&params)));
        HsTcp { params, window: Window::new(start, InLinux::WholeTaken), whole: 0, increase: 1.0, table }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.table.is_some() {
            return self.count(ack);
        }
        // A logarithm and a power for each packet that the window moved, not for each acknowledgement.
        let whole = self.window.packets as u64;
        if whole != self.whole {
            self.whole = whole;
            self.increase = increase(&self.params, whole as f64);
        }
        self.window.grow(ack, self.increase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let left = self.left(loss.flight);
        self.window.reduce_to(left);
        self.forget_count();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let left = self.left(timeout.flight);
        self.window.restart(timeout, left);
        self.forget_count();
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("a_packets_per_rtt", increase(&self.params, self.window.packets)),
            ("b", decrease(&self.params, self.window.packets)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::settings::Settings;
    use crate::units::Span;

    /// Appendix B: the windows at which `a` is 1, 2, 3 and so on.
    const WINDOWS: [u32; 72] = [
        38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177,
        4596, 5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614,
        14424, 15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193,
        29557, 30975, 32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677,
        56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517, 84035, 89053,
    ];

    /// Appendix B: `b` there, in hundredths.
    const DECREASES: [u32; 72] = [
        50, 44, 41, 38, 37, 35, 34, 33, 32, 31, 30, 29, 28, 28, 27, 27, 26, 26, 25, 25, 24, 24, 23, 23, 22,
        22, 22, 21, 21, 21, 20, 20, 20, 19, 19, 19, 19, 18, 18, 18, 17, 17, 17, 17, 16, 16, 16, 16, 15, 15,
        15, 15, 14, 14, 14, 14, 13, 13, 13, 13, 13, 12, 12, 12, 12, 11, 11, 11, 10, 10, 10, 10,
    ];

    #[test]
    fn the_table_of_appendix_b_comes_out_to_the_last_row() {
        // A row for each window at which `a` is more than one above the row before; the first has 1.
        let params = Params::default();
        let mut last = 1.0;
        let mut rows = vec![38];
        for window in 39..90_000 {
            let a = increase(&params, f64::from(window));
            if a > last + 1.0 {
                rows.push(window);
                last = a;
            }
        }
        assert_eq!(rows, WINDOWS);
        for (window, hundredths) in WINDOWS.into_iter().zip(DECREASES) {
            let b = decrease(&params, f64::from(window));
            assert_eq!((b * 100.0).round(), f64::from(hundredths), "{window}: {b}");
        }
    }

    #[test]
    fn a_round_trip_gains_what_the_table_says_and_a_loss_takes_it() {
        // 663 packets: a = 6, b = 0.35.
        let start = Start::avoiding(664.0);
        let mut trace = Trace::new(HsTcp::new(Params::default(), start));
        let gained = trace.round_trip() - 664.0;
        assert!(gained > 5.9 && gained < 6.1, "{gained}");
        let before = trace.window();
        trace.loss();
        assert!((trace.window() / before - 0.65).abs() < 0.005, "{}", trace.window());
    }

    #[test]
    fn up_to_38_packets_it_is_reno() {
        let start = Start::avoiding(20.0);
        let mut trace = Trace::new(HsTcp::new(Params::default(), start));
        let gained = trace.round_trip() - 20.0;
        assert!(gained > 0.95 && gained < 1.0, "{gained}");
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, (20.0 + gained) / 2.0));
    }

    #[test]
    fn linux_counts_acknowledgements_by_the_greater_row_and_takes_its_256ths() {
        let start = Start { version: Version::Linux, ..Start::avoiding(100.0) };
        let mut trace = Trace::new(HsTcp::new(Params::default(), start));
        // Between 38 and 118 packets each acknowledgement adds 2: 50 of them are a packet.
        (0..49).for_each(|_| trace.ack(Span::from_millis(1)));
        assert_eq!(trace.window(), 100.0);
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.window(), 101.0);
        // b(118) = 0.4411 is 112 of 256: 101 - 101 · 112 / 256 = 101 - 44.
        trace.loss();
        assert_eq!(trace.window(), 57.0);
        let mut table = Table::new(&Params::default());
        assert_eq!(
            [38.0, 39.0, 118.0, 119.0, 1000.0].map(|window| table.row(&Params::default(), window)),
            [0, 1, 1, 2, 7]
        );
    }

    #[test]
    fn on_linux_a_loss_in_the_first_slow_start_halves() {
        let start = Start { version: Version::Linux, ..Start::new(10.0) };
        let mut trace = Trace::new(HsTcp::new(Params::default(), start));
        while trace.window() < 400.0 {
            trace.round_trip();
        }
        let before = trace.window();
        trace.loss();
        assert_eq!(trace.window(), before - (before / 2.0).floor());
    }

    #[test]
    fn windows_out_of_order_are_refused() {
        let message =
            Params { low_window: 100.0, high_window: 50.0, ..Params::default() }.check().unwrap_err();
        assert!(message.contains("low_window = 100 is not below high_window = 50"), "{message}");
    }
}
