// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee quic`, and other verbs with a QUIC stack, where the program has one.

use super::*;

#[cfg(not(feature = "quic"))]
#[test]
fn without_a_stack_the_command_that_builds_one_is_named() {
    for arguments in [
        &["quic", "serve"][..],
        &["quic", "get", "https://127.0.0.1:4433/"],
        &["replay", "--record", "../../scenarios/comparison.toml", "--host", "quinn"],
        &["live", "../../scenarios/comparison.toml", "--on", "noq"],
    ] {
        let output = command(arguments).output().expect("knee");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("--features quic"), "{arguments:?}: {said}");
    }
}

#[test]
fn what_a_server_or_client_cannot_be_is_refused() {
    for (arguments, why) in [
        (&["quic", "serve", "--cc", "pret"][..], "pert"),
        (&["quic", "serve", "--root", "/nowhere"], "is no folder"),
        (&["quic", "serve", "--lifetime", "0s"], "above 0s"),
        (&["quic", "get", "http://127.0.0.1/"], "does not begin with https://"),
        (&["quic", "get", "https://example.org/"], "not an address with a port"),
    ] {
        let output = command(arguments).output().expect("knee");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{arguments:?}: {said}");
    }
}

#[cfg(feature = "quic")]
mod on_the_wire {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, ChildStdout};

    use kneepoint::capture::qlog;

    use super::*;

    /// A server that stops with this.
    struct Serving {
        child: Child,
        said: BufReader<ChildStdout>,
        address: String,
        certificate: String,
    }

    impl Serving {
        fn new(more: &[&str]) -> Serving {
            let arguments = [&["quic", "serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
            let mut child = command(&arguments).stdout(Stdio::piped()).spawn().expect("knee");
            let mut said = BufReader::new(child.stdout.take().expect("piped"));
            let first = line(&mut said);
            let text = |key: &str| first[key].as_str().expect("a string").to_string();
            Serving { address: text("address"), certificate: text("certificate_sha256"), child, said }
        }

        /// Asks it to stop, and returns its report on its connections.
        fn end(mut self) -> Vec<Value> {
            let asked = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
            assert!(asked.expect("kill").success());
            let told = std::iter::from_fn(|| {
                let mut text = String::new();
                self.said.read_line(&mut text).ok().filter(|read| *read > 0)?;
                Some(serde_json::from_str(&text).expect("JSON"))
            });
            let told = told.collect();
            assert!(self.child.wait().expect("an end").success());
            told
        }
    }

    fn line(said: &mut impl BufRead) -> Value {
        let mut text = String::new();
        said.read_line(&mut text).expect("a line");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn an_object_is_served_fetched_and_summed_up() {
        let here = tempfile::tempdir().expect("a folder");
        for (stack, protocol) in [("quinn", "h3"), ("noq", "hq-interop")] {
            let server = Serving::new(&["--cc", "pert:t1=3ms", "--stack", stack]);
            let object = here.path().join(stack);
            let address = format!("https://{}/1000001", server.address);
            let got = command(&["quic", "get", &address, "--stack", stack, "--json"])
                .args(["--certificate", &server.certificate, "--out"])
                .arg(&object)
                .output()
                .expect("knee");
            assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
            let told: Value = serde_json::from_slice(&got.stdout).expect("JSON");
            let bytes = std::fs::read(&object).expect("the object");
            let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((bytes.len(), told["sha256"].as_str()), (1_000_001, Some(hash.as_str())));
            let [summary] = &*server.end() else { panic!("one connection") };
            assert_eq!((&summary["bytes"], &summary["objects"]), (&1_000_001.into(), &1.into()));
            assert_eq!(summary["protocol"], protocol);
            assert!(summary["goodput_bps"].as_f64() > Some(1e5), "{summary}");
        }
    }

    /// What the stacks record of both sides is read as it was.
    #[test]
    fn connections_are_recorded_as_qlog() {
        let here = tempfile::tempdir().expect("a folder");
        let folder = here.path().join("new/served");
        for stack in ["quinn", "noq"] {
            let server = Serving::new(&["--stack", stack, "--qlog", folder.to_str().expect("UTF-8")]);
            let address = format!("https://{}/1000000", server.address);
            let arguments = ["quic", "get", &address, "--stack", stack, "--json", "--qlog"];
            let got = command(&arguments).arg(&folder).output().expect("knee");
            assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
            let told: Value = serde_json::from_slice(&got.stdout).expect("JSON");
            let [summary] = &*server.end() else { panic!("one connection") };
            let [ours, theirs] = [summary, &told].map(|one| one["qlog"].as_str().expect("a file"));
            assert_eq!(ours.strip_suffix("_server.sqlog"), theirs.strip_suffix("_client.sqlog"));
            let read = |file| qlog::read(&std::fs::read(file).expect("a file")).expect("qlog");
            let (traces, cut) = read(ours);
            assert_eq!((traces.len(), cut), (1, None));
            let (transfer, instants) = (&traces[0].transfer, &traces[0].instants);
            let number = |key: &str| summary[key].as_f64().expect("a number");
            // Packets of the handshake have other numbers.
            let sent = number("packets_sent") - transfer.packets as f64;
            assert!((-2.0..=12.0).contains(&sent), "{summary} {}", transfer.packets);
            let lost = transfer.losses.len() as u64;
            // Packets of the handshake have other numbers, and can be lost too.
            let unseen = number("packets_lost") - lost as f64;
            assert!((0.0..=12.0).contains(&unseen), "{summary}");
            // Loopback loses what a socket has no room for.
            let once = transfer.bytes.saturating_sub(lost * 1500);
            assert!(transfer.bytes > 1_000_000 && once < 1_100_000, "{}, {lost} lost", transfer.bytes);
            // No initial estimate, which is 333 ms, and no seconds for milliseconds.
            let rtts = transfer.samples.iter().map(|sample| sample.rtt.as_millis_f64());
            // Over loopback an acknowledgement covers dozens of packets.
            assert!(rtts.len() > 4, "{stack}: {}", rtts.len());
            assert!(rtts.clone().all(|rtt| (1e-3..200.0).contains(&rtt)), "{stack}: {:?}", transfer.samples);
            let mut smoothed = instants.iter().filter_map(|one| one.smoothed).map(|rtt| rtt.as_millis_f64());
            let near = |rtt: f64| (rtt / number("rtt_ms") - 1.0).abs() < 0.02;
            assert!(smoothed.any(near), "{summary}");
            let acked: u64 = transfer.samples.iter().map(|sample| u64::from(sample.acked)).sum();
            assert!((acked + lost) * 10 > transfer.packets * 9, "{acked} of {}", transfer.packets);
            let last = instants.last().expect("an instant");
            assert!(last.delivered > 980_000 && last.window > Some(2000), "{last:?}");
            assert!(read(theirs).0[0].transfer.packets > 10);
            let out = here.path().join(stack);
            let predicted = command(&["predict", ours, "--out"]).arg(&out).output().expect("knee");
            assert!(predicted.status.success(), "{}", String::from_utf8_lossy(&predicted.stderr));
        }
    }

    #[test]
    fn a_controller_that_needs_the_network_is_refused_with_the_reason() {
        let output =
            command(&["quic", "serve", "--cc", "rcp", "--listen", "127.0.0.1:0"]).output().expect("knee");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("needs advice of routers"), "{said}");
    }

    #[test]
    fn a_folder_that_takes_no_file_is_refused() {
        for verb in
            [&["quic", "serve", "--listen", "127.0.0.1:0"][..], &["quic", "get", "https://127.0.0.1:9/1"]]
        {
            let output = command(&[verb, &["--qlog", "/dev/null/served"]].concat()).output().expect("knee");
            let said = String::from_utf8_lossy(&output.stderr);
            let why = "--qlog: cannot write into `/dev/null/served`";
            assert!(output.status.code() == Some(2) && said.contains(why), "{verb:?}: {said}");
        }
    }

    #[test]
    fn what_a_stack_told_a_controller_is_played_to_others() {
        let here = tempfile::tempdir().expect("a folder");
        let run = |arguments: &[&str]| command(arguments).current_dir(&here).output().expect("knee");
        assert!(run(&["init", "my.toml"]).status.success());
        for stack in ["noq", "quinn"] {
            let record = run(&["replay", "--record", "my.toml", "--host", stack]);
            assert!(record.status.success(), "{}", String::from_utf8_lossy(&record.stderr));
            let trace = String::from_utf8(record.stdout).expect("UTF-8");
            assert!(trace.contains(&format!("hosts of {stack}")) && trace.contains(",ack,"), "{stack}");
            assert!(trace.contains(",loss,"), "{stack}: {}", trace.lines().count());
            std::fs::write(here.path().join("trace.csv"), &trace).expect("written");
            let played = run(&["replay", "trace.csv", "--cc", "pert", "--json"]);
            let told: Value = serde_json::from_slice(&played.stdout).expect("JSON");
            assert_ne!(told["verdict"], "part", "{told}");
            assert!(told["steps"].as_u64() > Some(1000), "{told}");
        }
    }

    #[test]
    fn a_controller_of_another_stack_is_refused_with_the_names_of_this_one() {
        for (stack, other, own) in [
            ("noq", "quinn:bbr", "noq:reno, noq:cubic, noq:bbr3"),
            ("quinn", "noq:bbr3", "quinn:reno, quinn:cubic, quinn:bbr"),
        ] {
            let map = format!("reno={other}");
            let file = "../../scenarios/comparison.toml";
            let output = command(&["live", file, "--on", stack, "--cc-map", &map]).output().expect("knee");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(own), "{said}");
            assert!(said.contains(&format!("{stack} has no congestion control {other}")), "{said}");
        }
    }

    #[test]
    fn a_stack_is_the_hosts_of_a_scenario_with_its_own_controller() {
        let here = tempfile::tempdir().expect("a folder");
        let run = |arguments: &[&str]| command(arguments).current_dir(&here).output().expect("knee");
        assert!(run(&["init", "my.toml"]).status.success());
        let rows = |stack: &str, more: &[&str]| {
            let out = format!("{stack}-{}", more.len());
            let options = ["live", "my.toml", "--on", stack, "--repetitions", "1", "--out", &out];
            let live = run(&[&options, more].concat());
            assert!(live.status.success(), "{}", String::from_utf8_lossy(&live.stderr));
            std::fs::read_to_string(here.path().join(out).join("live.csv")).expect("rows")
        };
        for stack in ["noq", "quinn"] {
            let map = format!("reno={stack}:cubic");
            let (ours, own) = (rows(stack, &[]), rows(stack, &["--cc-map", &map]));
            assert!(ours.contains("utilization") && own.contains("utilization"), "{own}");
            assert_ne!(ours, own, "{stack} had its own controller in neither run or in both");
        }
    }

    /// One controller, loopback; `make test-quic-clients` has all of them, and more clients over a link.
    #[test]
    fn aioquic_fetches_an_object() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let venv = Command::new(root.join("scripts/quic.sh")).arg("venv").output().expect("the script");
        if !venv.status.success() {
            let why = String::from_utf8_lossy(&venv.stderr);
            say(&format!("SKIPPED: there is no aioquic, and it could not be installed: {why}"));
            return;
        }
        let python = String::from_utf8(venv.stdout).expect("UTF-8");
        for (stack, client) in [("quinn", "aioquic"), ("noq", "aioquic-hq")] {
            let server = Serving::new(&["--cc", "cubic", "--stack", stack]);
            let address = format!("https://{}/1000000", server.address);
            let got = Command::new(python.trim())
                .args([root.join("scripts/quic/client.py").as_os_str(), client.as_ref(), address.as_ref()])
                .output()
                .expect("python");
            assert!(got.status.success(), "{client}: {}", String::from_utf8_lossy(&got.stderr));
            let told: Value = serde_json::from_slice(&got.stdout).expect("JSON");
            let words: Vec<u8> = (0..125_000u64).flat_map(u64::to_be_bytes).collect();
            let hash: String = Sha256::digest(&words).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((&told["bytes"], told["sha256"].as_str()), (&1_000_000.into(), Some(hash.as_str())));
            assert_eq!(server.end().len(), 1);
        }
    }

    #[test]
    fn their_own_controllers_are_schemes_of_studies_and_gates_and_no_hunt_has_them() {
        let here = tempfile::tempdir().expect("a folder");
        let run = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let output = command(&words).current_dir(&here).output().expect("knee");
            (
                output.status.code(),
                String::from_utf8_lossy(&output.stdout).into_owned()
                    + &String::from_utf8_lossy(&output.stderr),
            )
        };
        let options = "--tcp linux --rate 5mbit --rtt 40ms --flows 1 --duration 4s --seeds 1 --json";
        for schemes in ["cubic noq-cubic quinn-cubic", "noq-cubic prague"] {
            let compared = run(&format!("compare {schemes} {options}"));
            assert_eq!(compared.0, Some(0), "{}", compared.1);
        }
        let case = "[experiment]\nid = \"a-b\"\ntitle = \"c\"\nsource = \"d\"\n[run]\nduration = \"4s\"\n\
            [topology]\nkind = \"dumbbell\"\nrate = \"5mbit\"\n[[flows]]\nname = \"subject\"\ncc = \"subject\"\n\
            [[claim]]\nid = \"used\"\ntext = \"It sends.\"\ncheck = \"utilization > 0.3\"\n";
        std::fs::write(here.path().join("case.toml"), case).expect("a file");
        let idle = case.replace("a-b", "a-c").replace("[[flows]]", "[[onoff]]\nrate = \"1mbit\"");
        std::fs::write(here.path().join("idle.toml"), idle).expect("a file");
        let gate = run("gate run quinn-reno --suite case.toml,idle.toml --json");
        let outcome: Value =
            serde_json::from_str(&gate.1).unwrap_or_else(|error| panic!("{error}: {}", gate.1));
        let found = [0, 1].map(|place| outcome["cases"][place]["status"].as_str());
        assert_eq!((gate.0, found), (Some(0), [Some("passed"), Some("not applicable")]), "{}", gate.1);
        let explained = run("explain noq-bbr3");
        assert!(explained.0 == Some(0) && explained.1.contains("entropy"), "{}", explained.1);
        for (refused, why) in [
            ("hunt noq-cubic", "simulator's hosts"),
            ("compare noq-cubic cubic --qlog forward/0 --out here", "simulator's hosts"),
            ("compare noq-cubic cubic --duplicate 1%", "duplication"),
        ] {
            let (status, told) = run(refused);
            assert!(status != Some(0) && told.contains(why), "{refused}: {told}");
        }
    }
}
