// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads one question of a page per line, runs its scenario, and prints the hash of its rows, the packets of the
//! bottleneck and the seconds of the run, for comparison with the page.

use std::io::{Write, stdin, stdout};
use std::time::Instant;

use kneepoint_web::question::Question;
use kneepoint_web::running::Running;

#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is this program, and not a simulated network"
)]
fn main() -> std::io::Result<()> {
    for line in stdin().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        let began = Instant::now();
        let answer = Running::new(&question).ok().and_then(|mut running| {
            running.advance(1e9);
            running.finish()
        });
        let seconds = began.elapsed().as_secs_f64();
        match answer {
            Some(answer) => writeln!(stdout(), "{} {} {seconds}", answer.hash, answer.bottleneck_packets)?,
            None => writeln!(stdout(), "refused 0 0")?,
        }
    }
    Ok(())
}
