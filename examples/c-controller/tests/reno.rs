// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reno in C behaves as Reno, keeps the laws of controllers, and is tested by the program's own gate.

use std::path::Path;
use std::process::Command;

use c_controller::known;
use kneepoint::laws;
use kneepoint::measure::Meter;
use kneepoint::run::run;
use kneepoint::table::Row;

/// Losses, marks, timeouts, idle times and undone reductions.
fn rows(cc: &str, seed: u64) -> Vec<Row> {
    let text = format!(
        r#"
        [topology]
        kind = "dumbbell"
        rate = "8mbit"
        rtt = "50ms"

        [queue]
        kind = "codel"
        ecn = true

        [loss]
        kind = "uniform"
        p = 0.01

        [[flows]]
        name = "long"
        count = 3
        cc = "{cc}"
        tcp = {{ recovery = "rack" }}

        [[web]]
        name = "web"
        cc = "{cc}"

        [run]
        duration = "20s"
        "#
    );
    let plan = known().unwrap().parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let valid = &plan.cases[0].valid;
    run(valid, seed, Meter::new(valid, seed)).0.finish()
}

#[test]
fn reno_in_c_has_the_results_of_reno_bit_by_bit() {
    for seed in 1..=3 {
        assert_eq!(format!("{:?}", rows("reno-in-c", seed)), format!("{:?}", rows("reno", seed)));
    }
    assert_ne!(format!("{:?}", rows("cubic", 1)), format!("{:?}", rows("reno", 1)));
}

#[test]
fn it_keeps_the_laws_of_controllers() {
    for config in known().unwrap().controllers() {
        laws::controllers::hold(config);
    }
}

#[test]
fn the_gate_of_the_example_passes() {
    let here = tempfile::tempdir().unwrap();
    for name in ["gate.toml", "gate.json"] {
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), here.path().join(name)).unwrap();
    }
    let run = Command::new(env!("CARGO_BIN_EXE_c-controller"))
        .args(["gate", "run", "--quick", "--fresh"])
        .current_dir(here.path())
        .output()
        .unwrap();
    let init = Command::new(env!("CARGO_BIN_EXE_c-controller"))
        .args(["gate", "init", "new", "--subject", "reno-in-c"])
        .current_dir(here.path())
        .status()
        .unwrap();
    let workflow = std::fs::read_to_string(here.path().join("new/.github/workflows/gate.yml")).unwrap();
    let builds =
        workflow.contains("--bin c-controller") && workflow.contains("target/release/c-controller gate run");
    assert!(init.success() && builds, "{workflow}");
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}{}", String::from_utf8_lossy(&run.stderr));
    assert!(told.contains("Subject: reno-in-c") && !told.contains("no accepted outcome"), "{told}");
}
