// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers of other crates, behind a pointer.
//!
//! ```
//! use kneepoint_cc::cc::{self, Start};
//! # type Gentle = kneepoint_cc::cc::reno::Reno;
//!
//! // `Gentle` implements `Controller` in the file gentle.rs, which begins with its documentation.
//! let source = "//! Gentle: Reno that gives way.";
//! let config = cc::Config::from(cc::external::of::<Gentle>("gentle", source));
//! assert_eq!((config.name(), config.build(Start::new(10.0)).control().window), ("gentle", 10.0));
//! ```

use alloc::vec::Vec;

use super::steady::ResponseFunction;
use super::{Ack, Advised, Control, Controller, Ecn, Loss, Marks, Resize, Sizes, Start, Timeout, Wanted};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::external! {
    trait Controller(Start);
    asked {
        /// The ECN codepoint of its packets and the echo it needs.
        fn marks() -> Marks;
        /// The explicit feedback it uses.
        fn wanted() -> Wanted;
        /// Whether the window is its own to set during recovery.
        fn steers_recovery() -> bool;
        /// Published response functions.
        fn steady_state() -> &'static [ResponseFunction];
        /// Its window and pace now.
        fn control() -> Control;
        /// Internal variables for plots: names with units, and values.
        fn state() -> Vec<(&'static str, f64)>;
    }
    told {
        /// The handshake took this long.
        fn on_opened(now: Time, rtt: Span);
        /// An acknowledgement arrived, in order or duplicate.
        fn on_ack(ack: &Ack, rng: &mut Rng);
        /// A loss episode begins.
        fn on_loss(loss: &Loss);
        /// Start over from one packet.
        fn on_timeout(timeout: &Timeout);
        /// A mark was echoed, reported once per window.
        fn on_ecn(ecn: &Ecn);
        /// Whether it asks its host for a reduction, since it was asked last.
        fn yields() -> bool;
        /// The network advised it.
        fn on_advice(advised: &Advised);
        /// The host sets window and threshold.
        fn on_resize(resize: &Resize);
        /// Sending begins again with nothing in flight.
        fn on_resume(now: Time, idle: Span);
        /// Its window and threshold, if it has both.
        fn sizes() -> Option<Sizes<'_>>;
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::super::reno::{Params, Reno};
    use super::super::{Any, Config};
    use super::*;
    use crate::settings::{Assign, Field, NoParameters, Raw, Refusal, Values, read_within};
    use crate::units::Time;

    const SOURCE: &str = "//! Gentle: it gives way.\n//!\n//! Nobody, 2026.\n";

    fn gentle() -> External {
        of::<Reno>("gentle", SOURCE)
    }

    fn loss() -> Loss {
        Loss { now: Time::ZERO, flight: 20.0, una: 0, next: 20 }
    }

    #[test]
    fn an_external_controller_is_chosen_set_and_built_like_a_registered_one() {
        let mut config = Config::from(gentle());
        assert_eq!((config.name(), config.declared().len()), ("gentle", 2));
        assert_eq!(config.set("decrease", &Raw::Float(0.25)), Ok(()));
        assert_eq!(config.get("decrease"), Some("0.25".to_string()));
        let Err(Refusal::Value(message)) = config.set("decrease", &Raw::Float(7.0)) else { panic!() };
        assert!(message.contains("0.01 to 0.99"), "{message}");
        let mut controller = config.build(Start::avoiding(20.0));
        controller.on_loss(&loss());
        assert_eq!(controller.control().window, 15.0);
    }

    #[test]
    fn a_copy_of_an_external_controller_goes_its_own_way() {
        let original = Config::from(gentle()).build(Start::avoiding(20.0));
        let mut copy = original.clone();
        assert_eq!(format!("{copy:?}"), format!("{original:?}"));
        copy.on_loss(&loss());
        assert_eq!((original.control().window, copy.control().window), (20.0, 10.0));
    }

    #[test]
    fn external_controllers_are_equal_if_they_share_definition_and_parameters() {
        let (one, other) = (Config::from(gentle()), Config::from(gentle()));
        let mut changed = one.clone();
        assert_eq!(changed, one);
        assert_ne!(one, other);
        assert_eq!(changed.set("increase", &Raw::Float(2.0)), Ok(()));
        assert_ne!(changed, one);
    }

    #[test]
    fn a_version_is_what_makes_a_definition_the_same_in_another_process() {
        assert_ne!(gentle().print(), gentle().print());
        assert_eq!(gentle().versioned("2").print(), gentle().versioned("2").print());
        assert_ne!(gentle().versioned("2").print(), gentle().versioned("3").print());
    }

    #[test]
    fn a_closure_makes_the_controller_of_each_flow() {
        let halving = 0.5;
        let make = move |_: NoParameters, start: Start| -> Box<dyn Object> {
            Box::new(Reno::new(Params { decrease: halving, ..Params::default() }, start))
        };
        let config = Config::from(External::new("closure", SOURCE, make));
        let Any::External(mut controller) = config.build(Start::avoiding(20.0)) else { panic!() };
        controller.on_loss(&loss());
        assert_eq!(controller.control().window, 10.0);
    }

    /// A parameter that is declared while a program runs.
    #[derive(Clone)]
    struct Declared(f64);

    impl Assign for Declared {
        fn declared(&self) -> &'static [Field] {
            const PART: Field = Field {
                name: "part",
                kind: "number",
                choices: &[],
                json: &["number"],
                values: Values::Written { default: "0.5", range: Some("0 to 0.9") },
                doc: "The fraction by which a loss reduces the window.",
            };
            &[PART]
        }
        fn assign(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
            if name != "part" {
                return Err(Refusal::Unknown);
            }
            self.0 = read_within(raw, Some(0.0..=0.9))?;
            Ok(())
        }
        fn written(&self, name: &str) -> Option<String> {
            (name == "part").then(|| self.0.to_string())
        }
        fn agree(&self) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn parameters_may_be_declared_while_a_program_runs() {
        let make = |Declared(decrease): Declared, start: Start| -> Box<dyn Object> {
            Box::new(Reno::new(Params { decrease, ..Params::default() }, start))
        };
        let mut config = Config::from(External::with("late", SOURCE, Declared(0.5), make));
        let field = config.declared()[0];
        assert_eq!((field.default(), field.range()), ("0.5".to_string(), Some("0 to 0.9".to_string())));
        assert_eq!(config.set("part", &Raw::Float(0.25)), Ok(()));
        assert_eq!(config.set("whole", &Raw::Float(0.25)), Err(Refusal::Unknown));
        assert!(matches!(config.set("part", &Raw::Float(2.0)), Err(Refusal::Value(_))));
        assert_eq!(config.get("part"), Some("0.25".to_string()));
        let mut controller = config.build(Start::avoiding(20.0));
        controller.on_loss(&loss());
        assert_eq!(controller.control().window, 15.0);
    }
}
