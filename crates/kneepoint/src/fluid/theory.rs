// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queue that a fluid model predicts for a run, and the simulation's distance from it.

use super::Config;
use super::describes::{Path, describe};
use crate::link::Routes;
use crate::queue::Facts;
use crate::spec::{Group, Valid};
use crate::table::Table;
use crate::traffic::Kind;
use crate::units::{Interval, Span};

crate::keys! {
    /// A fluid model compared with a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Theory {
        /// The name of the model.
        pub model: &'static str,
        /// The queue at its equilibrium.
        pub rest_packets: f64,
        /// The real part of its rightmost mode; negative in a stable model.
        pub mode_real_per_s: f64,
        /// The imaginary part, in radians.
        pub mode_imaginary_per_s: f64,
        /// Its queue over time: seconds of the run, packets. It begins half-way through the starts of the flows.
        #[serde(skip)]
        pub queue: Vec<(f64, f64)>,
    }

    /// The distance of a simulation from a model inside the measurement window.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Misfit {
        /// The mean simulated queue minus the equilibrium.
        pub mean_packets: f64,
        /// The root mean square of the difference of both queues over time.
        pub rms_packets: f64,
    }
}

/// Points of a trajectory that are kept.
const POINTS: u32 = 4000;

impl Theory {
    /// The model of a run, or the reason that it has none.
    ///
    /// It covers the long transfers over the first measured link, which must share one controller; web sessions and
    /// sources at a constant rate are left out.
    pub fn of(valid: &Valid) -> Result<Theory, String> {
        let config = model(valid)?;
        let model = config.build();
        let local = model.local()?;
        let (begin, end) = (mean_start(valid), valid.schedule().duration.as_secs_f64());
        let path = model.run(model.start(), end - begin)?;
        let point = |place: u32| {
            let at = path.end() * f64::from(place) / f64::from(POINTS);
            (begin + at, model.queue(&path.at(at)).max(0.0))
        };
        Ok(Theory {
            model: config.name(),
            rest_packets: model.queue(&local.equilibrium.state),
            mode_real_per_s: local.mode().re,
            mode_imaginary_per_s: local.mode().im,
            queue: (0..=POINTS).map(point).collect(),
        })
    }

    /// The distance of a sampled run from the model.
    pub fn misfit(&self, series: &Table, window: Interval) -> Option<Misfit> {
        let (time, queue) =
            (*series.columns_of("time_s").first()?, *series.columns_of("queue_packets").first()?);
        let inside = |at: &f64| (window.from.as_secs_f64()..window.to.as_secs_f64()).contains(at);
        let samples = series.values(time).zip(series.values(queue)).filter(|(at, _)| inside(at));
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (at, packets) in samples {
            count += 1.0;
            sum += packets;
            squares += (packets - self.at(at)?) * (packets - self.at(at)?);
        }
        (count > 0.0).then(|| Misfit {
            mean_packets: sum / count - self.rest_packets,
            rms_packets: (squares / count).sqrt(),
        })
    }

    /// The model's queue at an instant of the run.
    fn at(&self, at: f64) -> Option<f64> {
        let after = self.queue.partition_point(|(time, _)| *time < at);
        let (right, left) =
            (self.queue.get(after).or(self.queue.last())?, self.queue.get(after.saturating_sub(1))?);
        let share = if right.0 > left.0 { (at - left.0) / (right.0 - left.0) } else { 0.0 };
        Some(left.1 + share * (right.1 - left.1))
    }
}

/// The model of the first measured link and of the long transfers that cross it.
fn model(valid: &Valid) -> Result<Config, String> {
    let links = &valid.network().links;
    let at = links.iter().position(|link| link.measured).ok_or("no link is measured")?;
    let link = &links[at];
    let rate = link.rate.ok_or_else(|| format!("the link {} has no rate", link.name))?;
    let mut routes = Routes::new(valid.network());
    let delay = |path: &[u32]| path.iter().map(|hop| links[*hop as usize].delay.0).sum::<u64>();
    let (mut round_trips, mut flows, mut groups) = (0, 0, Vec::<&Group>::new());
    for group in transfers(valid) {
        for (from, to) in &group.pairs {
            let (Some(there), Some(back)) = (routes.path(*from, *to), routes.path(*to, *from)) else {
                continue;
            };
            if there.contains(&(at as u32)) {
                round_trips += delay(&there) + delay(&back);
                flows += 1;
                groups.push(group);
            }
        }
    }
    let first = groups.first().ok_or_else(|| format!("no transfer crosses {}", link.name))?;
    if groups.iter().any(|group| group.cc != first.cc) {
        return Err(format!("transfers of several controllers share {}", link.name));
    }
    let (Some(control), Some(tcp)) = (&first.cc, &first.tcp) else {
        return Err(format!("the transfers over {} have no controller", link.name));
    };
    let packet = tcp.payload + tcp.header;
    let rtt = Span(round_trips / flows) + rate.time_for(packet);
    let facts = Facts { rate, delay: link.delay, limit: link.limit, packet };
    describe(&Path { control, queue: &link.queue, facts, flows: flows as usize, rtt })
}

/// The groups of long transfers.
fn transfers(valid: &Valid) -> impl Iterator<Item = &Group> {
    valid.groups().iter().filter(|group| group.kind() == Kind::Transfers)
}

/// The mean over the transfers of the midpoint of their start intervals, in seconds.
fn mean_start(valid: &Valid) -> f64 {
    let starts = transfers(valid).flat_map(|group| &group.members).map(|member| member.start);
    let middles = starts.map(|start| 0.5 * (start.from.as_secs_f64() + start.to.as_secs_f64()));
    let (count, sum) = middles.fold((0.0, 0.0), |(count, sum), middle| (count + 1.0, sum + middle));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    #[test]
    fn the_misfit_is_a_mean_and_a_root_mean_square_inside_the_window() {
        let theory = Theory {
            model: "some",
            rest_packets: 10.0,
            mode_real_per_s: -1.0,
            mode_imaginary_per_s: 0.0,
            queue: vec![(0.0, 0.0), (10.0, 10.0), (20.0, 10.0)],
        };
        assert_eq!((theory.at(5.0), theory.at(15.0), theory.at(99.0)), (Some(5.0), Some(10.0), Some(10.0)));
        let rows = vec![vec![5.0, 100.0], vec![12.0, 13.0], vec![18.0, 9.0], vec![20.0, 500.0]];
        let series = Table { columns: vec!["time_s".into(), "queue_packets[a-b]".into()], rows };
        let window = Interval { from: Time(10_000_000_000), to: Time(20_000_000_000) };
        let misfit = theory.misfit(&series, window).unwrap();
        assert_eq!(misfit, Misfit { mean_packets: 1.0, rms_packets: 5.0_f64.sqrt() });
    }
}
