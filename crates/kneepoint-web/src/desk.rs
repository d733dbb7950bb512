// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The library as functions from bytes to bytes, between which one run may be in progress.

use serde::Serialize;
use serde_json::json;

use crate::figure::Figure;
use crate::given;
use crate::picture::Asked;
use crate::question::{Problem, Question};
use crate::replayed::Replay;
use crate::running::Running;
use crate::{catalogue, figure, presets};

/// One run, and the latest answer.
#[derive(Default)]
pub struct Desk {
    /// The bytes of the next question.
    pub room: Vec<u8>,
    /// The latest answer, in JSON or as SVG.
    pub answer: Vec<u8>,
    /// Its numbers, if it has some.
    pub numbers: Vec<f32>,
    running: Option<Running>,
    /// The published figure that was last asked for: reading one takes a tenth of a second.
    figure: Option<Figure>,
}

impl Desk {
    /// Returns the size of a scenario's runs, or its problems.
    pub fn check(&mut self) {
        let checked = self.question().and_then(|question| question.check());
        self.reply(checked);
    }

    /// Begins a run, or answers the problems of its scenario; returns whether it began.
    pub fn start(&mut self) -> bool {
        self.running = None;
        match self.begun() {
            Ok(running) => self.running = Some(running),
            Err(problems) => self.reply::<()>(Err(problems)),
        }
        self.running.is_some()
    }

    fn begun(&mut self) -> Result<Running, Vec<Problem>> {
        let question = self.question()?;
        match &question.figure {
            Some(name) => Running::of_figure(&self.figure(name)?.experiment, &question),
            None => Running::new(&question),
        }
    }

    fn figure(&mut self, name: &str) -> Result<&Figure, Vec<Problem>> {
        let known = self.figure.take().filter(|known| known.experiment.name() == name);
        Ok(self.figure.insert(known.map_or_else(|| figure::read(name), Ok)?))
    }

    /// Runs on until this many seconds of simulated time; the time reached, or infinity at the end of the run.
    pub fn step(&mut self, until_s: f64) -> f64 {
        let reached = self.running.as_mut().map(|running| running.advance(until_s));
        reached.filter(|(_, ended)| !ended).map_or(f64::INFINITY, |(now, _)| now)
    }

    /// Answers the columns of the run in progress.
    pub fn look(&mut self) {
        let Some(mut film) = self.running.as_ref().and_then(Running::so_far) else {
            return self.reply::<()>(Err(Vec::new()));
        };
        let numbers = std::mem::take(&mut film.all);
        self.reply(Ok(film));
        self.numbers = numbers;
    }

    /// Ends the run, and answers rows and columns.
    pub fn finish(&mut self) {
        let Some(mut answer) = self.running.take().and_then(Running::finish) else {
            return self.reply::<()>(Err(Vec::new()));
        };
        let numbers = std::mem::take(&mut answer.film.all);
        self.reply(Ok(answer));
        self.numbers = numbers;
    }

    /// Answers the algorithms and metrics.
    pub fn catalogue(&mut self) {
        self.reply(Ok(catalogue::all()));
    }

    /// Answers the presets.
    pub fn presets(&mut self) {
        self.reply(Ok(presets::ALL));
    }

    /// Answers a chart.
    pub fn picture(&mut self) {
        match serde_json::from_slice::<Asked>(&self.room) {
            Ok(asked) => self.answer = asked.svg().into_bytes(),
            Err(error) => self.reply::<()>(Err(vec![unreadable(&error)])),
        }
    }

    /// Answers the claims of a published figure, judged by runs.
    pub fn judge(&mut self) {
        let asked: Result<figure::Asked, _> = serde_json::from_slice(&self.room);
        let asked = asked.map_err(|error| vec![unreadable(&error)]);
        let judged = asked.and_then(|asked| asked.judged(self.figure(&asked.figure)?));
        self.reply(judged);
    }

    /// Returns the kind of a file.
    pub fn given(&mut self) {
        let (given, numbers) = given::read(&self.room);
        self.reply(Ok(given));
        self.numbers = numbers;
    }

    /// Plays a trace of signals to a controller, and answers the hash of its windows.
    pub fn replay(&mut self) {
        let asked: Result<Replay, _> = serde_json::from_slice(&self.room);
        let played = asked.map_err(|error| vec![unreadable(&error)]).and_then(|asked| asked.play());
        self.reply(played);
    }

    fn question(&self) -> Result<Question, Vec<Problem>> {
        serde_json::from_slice(&self.room).map_err(|error| vec![unreadable(&error)])
    }

    fn reply<T: Serialize>(&mut self, answer: Result<T, Vec<Problem>>) {
        self.numbers = Vec::new();
        let written = match answer {
            Ok(answer) => serde_json::to_vec(&answer),
            Err(problems) => serde_json::to_vec(&json!({ "problems": problems })),
        };
        self.answer = written.unwrap_or_default();
    }
}

/// A question that no page of ours asks.
fn unreadable(error: &serde_json::Error) -> Problem {
    let message = format!("the question cannot be read: {error}");
    Problem { line: error.line(), column: error.column(), set: None, message, help: None }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const TEXT: &str = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\n[[flows]]\ncount = 2\ncc = 'cubic'\n";

    fn asked(question: &Value) -> Desk {
        Desk { room: serde_json::to_vec(question).expect("a question"), ..Desk::default() }
    }

    fn answered(desk: &Desk) -> Value {
        serde_json::from_slice(&desk.answer).expect("an answer")
    }

    #[test]
    fn a_run_in_many_steps_has_the_rows_of_a_run_in_one() {
        let run = |step: f64| {
            let mut desk = asked(&json!({ "text": TEXT, "packets": 1000 }));
            assert!(desk.start());
            let mut until = step;
            while desk.step(until).is_finite() {
                until += step;
            }
            desk.finish();
            (answered(&desk), desk.numbers)
        };
        let (whole, steps) = (run(1e9), run(0.037));
        assert_eq!(whole.0["hash"], steps.0["hash"]);
        assert_eq!(whole.0["film"], steps.0["film"]);
        assert_eq!(whole.0["film"]["columns"].as_array().map(Vec::len), Some(10));
    }

    #[test]
    fn a_scenario_with_a_fault_is_answered_with_its_problems_and_no_run() {
        let mut desk = asked(&json!({ "text": TEXT.replace("cubic", "cubik") }));
        assert!(!desk.start());
        assert_eq!(answered(&desk)["problems"][0]["line"], 8);
        assert_eq!(desk.step(1.0), f64::INFINITY);
    }

    #[test]
    fn every_preset_is_valid_and_has_two_to_four_cases() {
        for preset in presets::ALL {
            let mut desk = asked(&json!({ "text": preset.text }));
            desk.check();
            let checked = answered(&desk);
            assert_eq!(checked.get("problems"), None, "{}: {checked}", preset.id);
            let cases = checked["cases"].as_array().map_or(0, Vec::len);
            assert!((2..=4).contains(&cases), "{}: {cases} cases", preset.id);
        }
    }
}
