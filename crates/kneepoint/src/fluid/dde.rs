// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delay-differential equations, integrated by the method of steps.
//!
//! A. Bellen, M. Zennaro, "Numerical Methods for Delay Differential Equations", Oxford 2003.
//!
//! ```text
//! x'(t) = f(x(t), x(t - τ_1), … x(t - τ_L)),   τ_i = τ_i(x(t)) > 0,   x(t) = φ(t) for t <= 0
//! ```
//!
//! Classical Runge-Kutta of order 4 with a fixed step; the past is read from cubic Hermite polynomials through the
//! stored states and derivatives, whose error is of order 4, too.
//!
//! x' jumps at 0, x'' where a delay first reaches back to 0, and so on, one order smoother each time. A step that would
//! stride over such an instant ends on it instead, whether the delay is constant or depends on the state, until the
//! jumps are smoother than the method. So the order is 4 throughout.

/// The equations: `N` states that look back `L` times.
pub trait Delayed<const N: usize, const L: usize> {
    /// The length of each delay, in seconds.
    fn lags(&self, now: &[f64; N]) -> [f64; L];
    /// The derivative, from the state now and the states a lag ago.
    fn derivative(&self, now: &[f64; N], past: &[[f64; N]; L]) -> [f64; N];
}

/// More steps than this are a mistake, such as a delay of nanoseconds over minutes.
pub const MOST_STEPS: f64 = 1e7;
/// A jump that has propagated this often is smoother than the method can notice.
const LEVELS: u32 = 4;
/// The distance from a jump, in steps, that counts as none.
const NEAR: f64 = 1e-9;

#[derive(Clone, Copy, Debug)]
struct Node<const N: usize> {
    at: f64,
    state: [f64; N],
    slope: [f64; N],
}

/// A solution from 0 to where it was integrated.
#[derive(Clone, Debug)]
pub struct Trajectory<const N: usize> {
    nodes: Vec<Node<N>>,
    /// Whether it left the finite numbers, and so ends early.
    pub diverged: bool,
}

impl<const N: usize> Trajectory<N> {
    /// The instants of the steps, with the states there.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = (f64, &[f64; N])> {
        self.nodes.iter().map(|node| (node.at, &node.state))
    }

    /// The last instant.
    pub fn end(&self) -> f64 {
        self.nodes.last().map_or(0.0, |node| node.at)
    }

    /// The state at an instant from 0 to the end.
    pub fn at(&self, at: f64) -> [f64; N] {
        let after = self.nodes.partition_point(|node| node.at < at);
        self.within(after.max(1).min(self.nodes.len() - 1), at)
    }

    /// The Hermite polynomial of the step that ends at node `after`.
    fn within(&self, after: usize, at: f64) -> [f64; N] {
        let Some(a) = after.checked_sub(1).map(|before| &self.nodes[before]) else {
            return self.nodes[0].state;
        };
        let b = &self.nodes[after];
        let (h, s) = (b.at - a.at, (at - a.at) / (b.at - a.at));
        let (left, right) = ((1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * s * (3.0 - 2.0 * s));
        let (begin, end) = (h * s * (1.0 - s) * (1.0 - s), h * s * s * (s - 1.0));
        std::array::from_fn(|i| {
            left * a.state[i] + right * b.state[i] + begin * a.slope[i] + end * b.slope[i]
        })
    }

    /// The turning points of one state: the extrema of its polynomials inside the interval, each with its value.
    pub fn extrema(&self, state: usize, from: f64, to: f64) -> Vec<(f64, f64)> {
        let turns = |pair: &[Node<N>]| {
            let turn = pair[0].slope[state] * pair[1].slope[state] < 0.0;
            turn && pair[0].at >= from && pair[1].at <= to
        };
        let turning = self.nodes.windows(2).enumerate().filter(|(_, pair)| turns(pair));
        turning
            .map(|(place, pair)| {
                let (a, b) = (&pair[0], &pair[1]);
                // The slope is nearly straight within a step.
                let share = a.slope[state] / (a.slope[state] - b.slope[state]);
                let at = a.at + share * (b.at - a.at);
                (at, self.within(place + 1, at)[state])
            })
            .collect()
    }

    /// The least and the greatest value of one state from an instant on.
    pub fn range(&self, state: usize, from: f64) -> (f64, f64) {
        let values = self.steps().filter(|(at, _)| *at >= from).map(|(_, states)| states[state]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    }
}

/// Integrates from the history `before` up to the instant `end`, in steps of at most `step` seconds.
///
/// The error says why it cannot begin; a solution that grows without bound is returned as far as it is finite.
pub fn integrate<const N: usize, const L: usize>(
    equations: &impl Delayed<N, L>,
    before: &dyn Fn(f64) -> [f64; N],
    end: f64,
    step: f64,
) -> Result<Trajectory<N>, String> {
    if !(step > 0.0 && end > 0.0) {
        return Err(format!("{end} s in steps of {step} s: both must be above 0"));
    }
    if end / step > MOST_STEPS {
        return Err(format!("{end} s in steps of {step} s are too many steps: the limit is {MOST_STEPS}"));
    }
    let mut run = Run { equations, before, path: Trajectory { nodes: Vec::new(), diverged: false } };
    let start = before(0.0);
    run.path.nodes.push(Node { at: 0.0, state: start, slope: [0.0; N] });
    run.path.nodes[0].slope = run.slope(0.0, &start, &mut [0; L]);
    let mut cursors = [0; L];
    let mut jumps = vec![(0.0, 0)];
    while run.path.end() < end - NEAR * step {
        let last = run.path.nodes[run.path.nodes.len() - 1];
        let lags = equations.lags(&last.state);
        // No stage may use values that are not computed yet.
        let longest = lags.iter().fold(step.min(end - last.at), |least, lag| least.min(*lag));
        let next = match run.first_jump(&last, longest, &mut cursors, &jumps) {
            Some((node, level)) => {
                if level < LEVELS {
                    jumps.push((node.at, level));
                }
                node
            }
            None => run.stride(&last, longest, &mut cursors),
        };
        if !next.state.iter().chain(&next.slope).all(|value| value.is_finite()) {
            run.path.diverged = true;
            break;
        }
        run.path.nodes.push(next);
    }
    Ok(run.path)
}

struct Run<'a, const N: usize, const L: usize, E: Delayed<N, L>> {
    equations: &'a E,
    before: &'a dyn Fn(f64) -> [f64; N],
    path: Trajectory<N>,
}

impl<const N: usize, const L: usize, E: Delayed<N, L>> Run<'_, N, L, E> {
    /// The state in the past; `cursor` is the node after the last look, which the next look is near.
    fn look(&self, at: f64, cursor: &mut usize) -> [f64; N] {
        if at <= 0.0 {
            return (self.before)(at);
        }
        let nodes = &self.path.nodes;
        while *cursor + 1 < nodes.len() && nodes[*cursor].at < at {
            *cursor += 1;
        }
        while *cursor > 1 && nodes[*cursor - 1].at >= at {
            *cursor -= 1;
        }
        self.path.within(*cursor, at)
    }

    fn slope(&self, at: f64, state: &[f64; N], cursors: &mut [usize; L]) -> [f64; N] {
        let lags = self.equations.lags(state);
        let past = std::array::from_fn(|i| self.look(at - lags[i], &mut cursors[i]));
        self.equations.derivative(state, &past)
    }

    /// One step of Runge-Kutta.
    fn stride(&self, from: &Node<N>, h: f64, cursors: &mut [usize; L]) -> Node<N> {
        let along =
            |k: &[f64; N], far: f64| -> [f64; N] { std::array::from_fn(|i| from.state[i] + far * k[i]) };
        let half = from.at + 0.5 * h;
        let k1 = from.slope;
        let k2 = self.slope(half, &along(&k1, 0.5 * h), cursors);
        let k3 = self.slope(half, &along(&k2, 0.5 * h), cursors);
        let k4 = self.slope(from.at + h, &along(&k3, h), cursors);
        let mean = std::array::from_fn(|i| (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]) / 6.0);
        let state = along(&mean, h);
        Node { at: from.at + h, state, slope: self.slope(from.at + h, &state, cursors) }
    }

    /// The step that ends where a delay first reaches back to a jump, if the step of length `h` would pass one.
    fn first_jump(
        &self,
        from: &Node<N>,
        h: f64,
        cursors: &mut [usize; L],
        jumps: &[(f64, u32)],
    ) -> Option<(Node<N>, u32)> {
        let begin = self.equations.lags(&from.state);
        // Most often, no jump lies ahead, which needs no trial step.
        if !jumps.iter().any(|(at, _)| begin.iter().any(|lag| near_ahead(*at, from.at - lag, h))) {
            return None;
        }
        let trial = self.stride(from, h, cursors);
        let end = self.equations.lags(&trial.state);
        let passed = |lag: usize, at: f64| {
            let (before, after) = (from.at - begin[lag], trial.at - end[lag]);
            (before < at - NEAR * h && after > at + NEAR * h).then(|| h * (at - before) / (after - before))
        };
        let all = jumps.iter().flat_map(|(at, level)| (0..L).map(move |lag| (lag, *at, *level)));
        let first = all.filter_map(|(lag, at, level)| Some((passed(lag, at)?, lag, at, level)));
        let (mut share, lag, at, level) = first.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut node = self.stride(from, share, cursors);
        // A delay that depends on the state: a few secants land on the jump.
        for _ in 0..8 {
            let miss = node.at - self.equations.lags(&node.state)[lag] - at;
            if miss.abs() <= NEAR * NEAR * h {
                break;
            }
            let speed = (miss + at - (from.at - begin[lag])) / share;
            share -= miss / speed;
            node = self.stride(from, share, cursors);
        }
        Some((node, level + 1))
    }
}

/// Whether a delayed argument at `look` may pass a jump in a step of length `h`: a delay may shrink meanwhile.
fn near_ahead(jump: f64, look: f64, h: f64) -> bool {
    jump > look + NEAR * h && jump < look + 100.0 * h
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = -x(t - 1).
    struct Decay;
    impl Delayed<1, 1> for Decay {
        fn lags(&self, _: &[f64; 1]) -> [f64; 1] {
            [1.0]
        }
        fn derivative(&self, _: &[f64; 1], [[past]]: &[[f64; 1]; 1]) -> [f64; 1] {
            [-past]
        }
    }

    /// x' = -(π/2) x(t - 1), whose solution is cos(π t / 2).
    struct Cosine;
    impl Delayed<1, 1> for Cosine {
        fn lags(&self, _: &[f64; 1]) -> [f64; 1] {
            [1.0]
        }
        fn derivative(&self, _: &[f64; 1], [[past]]: &[[f64; 1]; 1]) -> [f64; 1] {
            [-std::f64::consts::FRAC_PI_2 * past]
        }
    }

    fn cosine(at: f64) -> f64 {
        libm::cos(std::f64::consts::FRAC_PI_2 * at)
    }

    #[test]
    fn a_piecewise_polynomial_is_met_through_its_jumps_with_steps_that_do_not_divide_the_delay() {
        // 1 - t, then 1 - t + (t-1)²/2, then … - (t-2)³/6, then … + (t-3)⁴/24.
        let exact = |t: f64| {
            let power = |from: f64, n: f64| if t > from { libm::pow(t - from, n) } else { 0.0 };
            1.0 - t + power(1.0, 2.0) / 2.0 - power(2.0, 3.0) / 6.0 + power(3.0, 4.0) / 24.0
        };
        let path = integrate(&Decay, &|_| [1.0], 4.0, 0.07).unwrap();
        for (at, [value]) in path.steps() {
            assert!((value - exact(at)).abs() < 1e-6, "{at}: {value}, {}", exact(at));
        }
        assert!((path.at(2.5)[0] - exact(2.5)).abs() < 1e-6);
        assert!((path.end() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn halving_the_step_divides_the_error_by_sixteen() {
        let error = |step: f64| {
            let path = integrate(&Cosine, &|at| [cosine(at)], 10.0, step).unwrap();
            (path.at(10.0)[0] - cosine(10.0)).abs()
        };
        let errors = [0.05, 0.025, 0.0125].map(error);
        for pair in errors.windows(2) {
            let order = libm::log2(pair[0] / pair[1]);
            assert!((3.8..4.4).contains(&order), "{errors:?}");
        }
    }

    /// x' = 1/2, y' = -y(t - 1 - x): the delay grows with the state.
    struct Straight;
    impl Delayed<2, 1> for Straight {
        fn lags(&self, now: &[f64; 2]) -> [f64; 1] {
            [1.0 + now[0]]
        }
        fn derivative(&self, _: &[f64; 2], [past]: &[[f64; 2]; 1]) -> [f64; 2] {
            [0.5, -past[1]]
        }
    }

    #[test]
    fn a_delay_that_grows_with_the_state_is_met_through_its_jumps() {
        // x = t/2, so y looks back to t/2 - 1: y = 1 - t up to t = 2, then y' = -(1 - (t/2 - 1)) up to t = 6.
        let exact = |t: f64| if t <= 2.0 { 1.0 - t } else { -1.0 - 2.0 * (t - 2.0) + (t * t - 4.0) / 4.0 };
        let path = integrate(&Straight, &|_| [0.0, 1.0], 6.0, 0.13).unwrap();
        for (at, states) in path.steps() {
            assert!((states[1] - exact(at)).abs() < 1e-12, "{at}: {}, {}", states[1], exact(at));
        }
        assert!(path.steps().any(|(at, _)| (at - 2.0).abs() < 1e-12), "no step ends on the jump");
    }

    /// x' = x x(t - 1 ms): infinite at about 1 s.
    struct Growth;
    impl Delayed<1, 1> for Growth {
        fn lags(&self, _: &[f64; 1]) -> [f64; 1] {
            [1e-3]
        }
        fn derivative(&self, now: &[f64; 1], [[past]]: &[[f64; 1]; 1]) -> [f64; 1] {
            [now[0] * past]
        }
    }

    #[test]
    fn what_grows_without_bound_ends_where_it_is_last_finite_and_too_many_steps_are_refused() {
        let path = integrate(&Growth, &|_| [1.0], 10.0, 1e-3).unwrap();
        assert!(path.diverged && path.end() < 2.0, "{}", path.end());
        assert!(integrate(&Growth, &|_| [1.0], 10.0, 1e-9).unwrap_err().contains("too many steps"));
        assert!(integrate(&Growth, &|_| [1.0], f64::NAN, 1e-3).is_err());
    }

    #[test]
    fn a_state_turns_where_its_slope_changes_sign() {
        let path = integrate(&Cosine, &|at| [cosine(at)], 5.0, 0.01).unwrap();
        let turns = path.extrema(0, 0.5, 5.0);
        assert_eq!(turns.len(), 2, "{turns:?}");
        assert!((turns[0].0 - 2.0).abs() < 1e-4 && (turns[0].1 + 1.0).abs() < 1e-6, "{turns:?}");
        assert!((turns[1].0 - 4.0).abs() < 1e-4 && (turns[1].1 - 1.0).abs() < 1e-6, "{turns:?}");
        let (least, most) = path.range(0, 0.0);
        assert!((least + 1.0).abs() < 1e-5 && (most - 1.0).abs() < 1e-5);
    }
}
