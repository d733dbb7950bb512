// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Texts that people write: scenarios, experiments, scripts, and words of the command line.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::{FromStr, from_utf8};

use clap::Parser;
use kneepoint::experiment::expression::{Check, Expression, Scope};
use kneepoint::experiment::{Experiment, Pace, Publication};
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::scenario::{self, Fault, Plan, scheme};
use kneepoint::settings::Assign;
use kneepoint::study::Frame;
use kneepoint::table::Row;
use kneepoint::tcp::script;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};
use kneepoint::{capture, experiment, predict};
use kneepoint_bench::failure::faults as listed;
use kneepoint_cli::Knee;
use kneepoint_cli::failure::{of_usage, render_faults_plainly};

use crate::brief;

/// Every fault points into the text and says something, and is shown.
pub fn shown(text: &str, faults: &[Fault]) {
    assert!(!faults.is_empty(), "a refusal without a reason");
    for fault in faults {
        assert!(text.get(fault.span.clone()).is_some(), "{fault:?} points elsewhere");
        assert!(!fault.message.is_empty() && fault.help.as_deref() != Some(""), "{fault:?}");
    }
    // A list of a hundred shows no more than one of ten.
    let some = &faults[..faults.len().min(10)];
    render_faults_plainly("text", text, some);
    listed("text", text, some);
}

/// Runs the first cases of a plan, or shows why there is none.
pub fn planned(text: &str, plan: Result<Plan, Vec<Fault>>) {
    match plan {
        Ok(plan) => plan.cases.iter().take(2).for_each(|case| brief::run(&case.valid)),
        Err(faults) => shown(text, &faults),
    }
}

pub fn scenario(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    planned(text, scenario::parse(text));
    scenario::presets(text);
}

/// A scenario with most of the settings.
const SET: &str = include_str!("../../../scenarios/web.toml");

/// A setting of a scenario in each line.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let set: Vec<String> = text.lines().take(8).map(str::to_string).collect();
    let none = |_: &str| Err("no such file".to_string());
    match scenario::parse_set(SET, &set, &none, &none) {
        Ok((plan, written)) => {
            let again = scenario::parse(&written);
            // A plan is too long to be shown.
            assert!(again.as_ref() == Ok(&plan), "what was set reads otherwise:\n{written}");
            planned(&written, again);
        }
        Err(faults) => assert!(faults.iter().all(|fault| !fault.message.is_empty())),
    }
}

/// Reads a value, which then is written in a form that reads the same.
fn value<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            assert!(
                written.parse().is_ok_and(|again: T| again == value),
                "`{text}` is written as `{written}`"
            );
        }
        Err(wrong) => assert!(!wrong.to_string().is_empty()),
    }
}

pub fn values(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    value::<Span>(text);
    value::<Time>(text);
    value::<Rate>(text);
    value::<Bytes>(text);
    value::<Interval>(text);
    let _ = text.parse::<ParameterAxis>();
    let _ = (scenario::seed(text), scenario::seeds(text), capture::parse_direction(text));
    scenario::fitting_name(text);
}

pub fn schemes(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    scheme::declared(text);
    if let Ok(scheme) = scheme::parse(text) {
        let _ = scheme.cc.agree();
        let again = scheme::parse(&scheme.name);
        assert_eq!(again.as_ref(), Ok(&scheme), "`{text}` has a name that is another");
    }
}

pub fn predictors(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let _ = predict::parse_list(text);
}

pub fn experiment(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    for pace in [Pace::Quick, Pace::Full] {
        match experiment::parse(text, pace) {
            Ok(Experiment { claims, .. }) => {
                claims.iter().for_each(|claim| drop(claim.judge(&Frame::default())));
            }
            Err(faults) => shown(text, &faults),
        }
    }
}

pub fn publication(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    if let Err(faults) = Publication::parse(text) {
        shown(text, &faults);
    }
}

/// Numbers for claims to be about.
fn observed() -> Frame {
    let mut frame = Frame::default();
    for (seed, number) in [(1, 2.0), (2, -1.0), (3, 0.0)] {
        for scheme in ["pert", "sack"] {
            let row = Row::new([("link", "r1-r2".into())]).with("queue", number).with("none", f64::NAN);
            frame.add(&[("scheme".into(), scheme.into()), ("rtt".into(), "10ms".into())], seed, &[row]);
        }
    }
    frame
}

pub fn claim(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let (frame, labels) = (observed(), BTreeMap::new());
    let evaluate = |one: &Expression| {
        for seeds in [frame.seeds(), &[1]] {
            let _ = one.value(Scope { frame: &frame, labels: &labels, seeds });
        }
        let _ = frame.common(|point| one.reads(point, &labels));
    };
    if let Ok(one) = Expression::parse(text) {
        one.references();
        evaluate(&one);
    }
    if let Ok(Check { left, right, .. }) = Check::parse(text) {
        evaluate(&left);
        evaluate(&right);
    }
}

pub fn drill(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    match script::parse(text) {
        Ok(script) => {
            script.run();
            script.recorded().run();
        }
        Err(faults) => shown(text, &faults),
    }
}

/// A word of the command line in each line. Nothing of it is executed.
pub fn words(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    if let Err(usage) = Knee::try_parse_from(std::iter::once("knee").chain(text.lines())) {
        of_usage(&usage);
    }
}

/// A fault at any place of any text is shown. The first two bytes say where.
pub fn faults(bytes: &[u8]) {
    let Some(([begin, length], rest)) = bytes.split_first_chunk() else { return };
    let Ok(text) = from_utf8(rest) else { return };
    let begin = text.floor_char_boundary((*begin).into());
    let end = text.floor_char_boundary(begin + usize::from(*length)).max(begin);
    let fault = Fault { span: begin..end, message: text.to_string(), help: Some(text.to_string()) };
    render_faults_plainly(text, text, std::slice::from_ref(&fault));
    listed(text, text, &[fault]);
}
