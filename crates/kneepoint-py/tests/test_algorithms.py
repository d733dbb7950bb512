# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Controllers, queue disciplines and sources of traffic in Python take part in runs as the library's do."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest
from conftest import SCENARIO, SMALL, broken, kept

import kneepoint as knee
import kneepoint.cost
from kneepoint import _fingerprint
from kneepoint.algorithms import Ack, Arrival, Cue, Decision, Departure, Ecn, Facts, Loss, Request, Site, Start, Tick
from kneepoint.cost import Reno

def metrics(result: knee.Result) -> dict[str, Any]:
    """Every table and series with every column but the time that the run took."""
    return {
        name: {column: repr(result[name][column]) for column in result[name].columns if column != "cpu_seconds"}
        for name in result
    }


# Their behaviour.


def test_a_controller_that_repeats_reno_gives_the_same_rows(here: Path) -> None:
    own, built_in = metrics(knee.run(SCENARIO.replace('"reno"', '"reno-in-python"'))), metrics(knee.run(SCENARIO))
    assert own == built_in
    assert "series/small-seed2" in own and kept() == 4


def test_a_queue_marks_what_leaves_a_backlog_behind(here: Path) -> None:
    @knee.queue("my-step", threshold=10)
    class Step:
        def __init__(self, facts: Facts, threshold: int) -> None:
            self.threshold = threshold

        def on_arrival(self, arrival: Arrival) -> Decision:
            return "pass"

        def on_departure(self, departure: Departure) -> Decision:
            # A packet is marked that leaves more behind than the threshold.
            return "mark" if departure.ect and departure.backlog_packets > self.threshold else None

    marked = SCENARIO.replace('"reno"', '"dctcp"')
    own = knee.run(marked.replace('"droptail"', '"my-step:threshold=2"'))
    rows = own["links"]
    assert rows["marks"][0] > 0
    assert rows["queue_mean_packets"][0] < knee.run(marked)["links"]["queue_mean_packets"][0] / 2


def test_a_queue_that_repeats_pi_draws_and_ticks_as_it_does(here: Path) -> None:
    @knee.queue("my-pi", reference=50.0, a=0.00001822, b=0.00001816, frequency=170.0)
    class Pi:
        def __init__(self, facts: Facts, reference: float, a: float, b: float, frequency: float) -> None:
            self.reference, self.a, self.b, self.rng = reference, a, b, facts.rng
            self.interval_s, self.before, self.probability = 1 / frequency, -reference, 0.0

        def on_arrival(self, arrival: Arrival) -> Decision:
            return "drop" if self.probability > 0 and self.rng.chance(self.probability) else "pass"

        def on_tick(self, tick: Tick) -> None:
            error = tick.backlog_packets - self.reference
            self.probability = min(max(self.probability + (self.a * error - self.b * self.before), 0.0), 1.0)
            self.before = error

    quick = SCENARIO.replace('"droptail"', '"QUEUE:reference=5,a=0.001,b=0.0009"')
    own, built_in = (knee.run(quick.replace("QUEUE", name)) for name in ("my-pi", "pi"))
    assert own["links"]["drops_early"][0] > 5
    assert metrics(own) == metrics(built_in)
    assert metrics(own)["runs"] != metrics(knee.run(quick.replace("QUEUE", "my-pi"), seed=7))["runs"]


def test_a_queue_ticks_and_idles(here: Path) -> None:
    ticks: list[float] = []
    idle: list[float] = []

    @knee.queue("my-clock", every=knee.Parameter("100ms", "1ms", "1s", "Between two ticks."))
    class Clock:
        def __init__(self, facts: Facts, every: float) -> None:
            self.interval_s = every

        def on_arrival(self, arrival: Arrival) -> Decision:
            return None

        def on_tick(self, tick: Tick) -> None:
            ticks.append(tick.now_s)

        def on_idle(self, tick: Tick) -> None:
            idle.append(tick.now_s)

    knee.run(SCENARIO.replace('"droptail"', '"my-clock:every=50ms"'), seeds=1)
    gaps = {round(later - earlier, 6) for earlier, later in zip(ticks, ticks[1:]) if later > earlier}
    assert gaps == {0.05} and ticks[-1] > 9.9
    assert idle and idle == sorted(idle)


def test_a_source_of_datagrams_keeps_its_rate_and_its_time(here: Path) -> None:
    @knee.source("poisson", rate="1mbit", size="1000B")
    class Poisson:
        """Poisson: datagrams at random."""

        def __init__(self, site: Site, rate: float, size: int) -> None:
            self.site, self.mean_s, self.packet_bytes = site, size * 8 / rate, size
            self.wakeup_s: Optional[float] = site.start_s

        def on(self, cue: Cue, now_s: float) -> Request:
            assert isinstance(cue, Cue.Time)
            following = now_s + self.site.rng.exponential(self.mean_s)
            self.wakeup_s = following if following < self.site.stop_s else None
            return Request.Datagram(self.packet_bytes)

    noise = SCENARIO[: SCENARIO.index("[[flows]]")] + '[[poisson]]\nrate = "2mbit"\nstart = "1s"\n'
    assert knee.run(noise)["links"]["throughput_bps"][0] == pytest.approx(2e6, rel=0.1)


def test_a_source_of_sessions_opens_writes_and_closes(here: Path) -> None:
    seen: set[str] = set()

    @knee.source("my-web", size=20_000)
    class Web:
        kind = "sessions"

        def __init__(self, site: Site, size: int) -> None:
            self.size, self.wakeup_s, self.connection = size, site.start_s, 0

        def on(self, cue: Cue, now_s: float) -> Iterator[Request]:
            self.wakeup_s = float("inf")
            if isinstance(cue, Cue.Delivered):
                seen.add("delivered")
                yield Request.Close(cue.connection)
            elif isinstance(cue, Cue.Completed):
                seen.add("completed")
                assert cue.at_s <= now_s
                self.wakeup_s = now_s + 0.1
            else:
                self.connection += 1
                yield Request.Open(self.connection)
                yield Request.Write(self.connection, self.size, transfer_bytes=self.size)

    text = SCENARIO[: SCENARIO.index("[[flows]]")] + '[[my-web]]\nname = "web"\nsessions = 2\ncc = "reno-in-python"\n'
    groups = knee.run(text, seeds=1)["groups"]
    assert seen == {"delivered", "completed"}
    assert groups["goodput_bps"][0] > 1e5


def test_a_controller_hears_marks_and_paces(here: Path) -> None:
    heard: list[float] = []

    @knee.controller("my-paced")
    class Paced(Reno):
        def __init__(self, start: Start) -> None:
            super().__init__(start, 1.0, 0.5)
            self.pacing: Optional[float] = None

        def on_ack(self, ack: Ack) -> None:
            super().on_ack(ack)
            if ack.rtt_s is not None:
                self.pacing = 1.2 * self.window / ack.rtt_s

        def on_ecn(self, ecn: Ecn) -> None:
            heard.append(ecn.flight)
            self.window = self.ssthresh = max(0.8 * ecn.flight, 2.0)

    marking = SCENARIO.replace('"reno"', '"my-paced"').replace('"droptail"', '"red:ecn=true"')
    result = knee.run(marking, seeds=1)
    assert heard and result["links"]["utilization"][0] > 0.9


# The ways to choose them.


def test_every_verb_knows_their_names(here: Path) -> None:
    compared = knee.compare("reno-in-python", "reno-in-python:decrease=0.3", "cubic", **SMALL)
    assert compared.rows["scheme"] == ["reno-in-python", "reno-in-python:decrease=0.3", "cubic"]
    pairs: dict[str, Any] = {"rate": "5mbit", "flows": 2, "buffers": "1bdp", "duration": "5s", "seeds": 1, "progress": False}
    assert "reno-in-python" in knee.coexist("reno-in-python", "cubic", **pairs).text
    assert knee.predict(SCENARIO.replace('"reno"', '"reno-in-python"'), predictors="vegas", seeds=1).rows
    knee.Scenario(topology={"kind": "dumbbell", "rate": "5mbit"}, flows=[{"cc": "reno-in-python:increase=2.0"}])
    swept = knee.run(SCENARIO + '[sweep]\nscheme = ["reno-in-python", "sack"]\n', seeds=1).rows
    assert swept["scheme"] == ["reno-in-python", "sack"] and len(set(swept["flow_goodput_bps"])) == 1


def test_a_parameter_is_set_in_every_way_and_held_to_its_range(here: Path) -> None:
    ways = [
        SCENARIO.replace('"reno"', '"reno-in-python:decrease=0.3"'),
        SCENARIO.replace('"reno"', '{ kind = "reno-in-python", decrease = 0.3 }'),
        SCENARIO.replace('"reno"', '"reno-in-python"') + "[controllers.reno-in-python]\ndecrease = 0.3\n",
    ]
    assert len({repr(metrics(knee.run(way))["runs"]) for way in ways}) == 1
    assert kept() == 2, "it is one run for each seed"
    with pytest.raises(knee.ScenarioError) as caught:
        knee.Scenario.from_toml(ways[1].replace("0.3", "1.5"))
    (fault,) = caught.value.faults
    assert fault.line == 15 and "0.01 to 0.99" in fault.message


def test_parameters_have_the_types_of_their_defaults(here: Path) -> None:
    given: list[Any] = []

    @knee.controller("typed", flag=True, whole=3, number=0.5, wait="5ms", rate="10mbit", data="1500B")
    class Typed(Reno):
        def __init__(self, start: Start, **parameters: Any) -> None:
            super().__init__(start, 1.0, 0.5)
            given.append(parameters)

    knee.compare("typed:wait=1s,whole=4,flag=false", **SMALL)
    assert given[-1] == {"flag": False, "whole": 4, "number": 0.5, "wait": 1.0, "rate": 1e7, "data": 1500}


def test_an_unknown_name_suggests_ours() -> None:
    with pytest.raises(knee.UsageError, match="did you mean `reno-in-python`"):
        knee.compare("reno-in-pyton", **SMALL)


# The part that is kept.

MODULE = """
import kneepoint as knee
from kneepoint.cost import Reno

FACTOR = 0.5

def share(flight):
    return flight * FACTOR

@knee.controller("written", increase=1.0, decrease=0.5)
class Written(Reno):
    def on_loss(self, loss):
        self.window = self.ssthresh = max(share(loss.flight), 2.0)
"""


def test_a_run_is_read_back_until_something_changes_that_the_code_refers_to(here: Path) -> None:
    def runs_with(text: str) -> int:
        exec(compile(text, "written.py", "exec"), {"__name__": "written"})
        knee.compare("written", **SMALL)
        return kept()

    assert runs_with(MODULE) == 1
    assert runs_with(MODULE) == 1, "the same code, read again"
    assert runs_with("# A comment.\n\n" + MODULE + "\nUNUSED = 3\n") == 1
    assert runs_with(MODULE.replace("max(share(loss.flight), 2.0)", "max(share(loss.flight), 4.0)")) == 2
    assert runs_with(MODULE.replace("flight * FACTOR", "flight * FACTOR - 1")) == 3, "a function that it calls"
    assert runs_with(MODULE.replace("FACTOR = 0.5", "FACTOR = 0.6")) == 4, "a number that it uses"
    assert runs_with(MODULE) == 4
    knee.compare("reno", **SMALL)
    assert kept() == 5


def test_a_module_counts_with_the_version_of_its_package_under_whatever_name() -> None:
    owners = importlib.metadata.packages_distributions()
    assert "kneepoint" in owners and owners["kneepoint"] != ["kneepoint"]
    for module, packages in owners.items():
        for package in packages:
            assert importlib.metadata.version(package) in _fingerprint._release(module), (module, package)
    assert _fingerprint._release("json.decoder") == ""


def test_runs_with_what_cannot_be_hashed_are_not_kept_and_that_is_said(here: Path) -> None:
    lines = open(__file__, encoding="utf-8")

    @knee.controller("odd", increase=1.0, decrease=0.5)
    class Odd(Reno):
        def on_loss(self, loss: Loss) -> None:
            lines.fileno()
            super().on_loss(loss)

    with pytest.warns(UserWarning, match="the controller `odd` uses `lines` .*: its runs are not kept") as warned:
        assert len(knee.compare("odd", **SMALL).rows) == 1
        knee.Scenario(topology={"kind": "dumbbell", "rate": "5mbit"}, flows=[{"cc": "odd"}])
    assert {one.filename for one in warned} == {__file__}, "the line that called"
    assert not Path("out/runs").exists() or kept() == 0
    with pytest.raises(knee.UsageError, match="cannot be hashed"):
        knee.sweep("compare", "odd", **{key: value for key, value in SMALL.items() if key != "progress"})
    lines.close()


def test_files_are_written_as_for_any_controller(here: Path) -> None:
    knee.compare("reno-in-python", **SMALL, out="report")
    assert "reno-in-python" in Path("report/report.html").read_text()


# Elsewhere.


def test_a_sweep_on_ray_makes_the_runs_of_one_machine(here: Path) -> None:
    ray = pytest.importorskip("ray")
    exec(compile(MODULE, "written.py", "exec"), {"__name__": "written"})
    study: dict[str, Any] = {**SMALL, "seeds": 2}
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        swept = knee.sweep("compare", "written", "reno", **study, store="cluster")
    finally:
        ray.shutdown()
    alone = knee.compare("written", "reno", **study, store="alone")
    assert {path.name for path in Path("cluster").iterdir()} == {path.name for path in Path("alone").iterdir()}
    assert swept.rows["flow_goodput_bps"] == alone.rows["flow_goodput_bps"]


def test_episodes_have_them_beside_the_agent_and_beneath_it() -> None:
    env_of = pytest.importorskip("kneepoint.gym")
    shared = SCENARIO.replace("count = 3", "count = 1").replace("seeds = 2", "") + '[[flows]]\ncc = "reno-in-python"\n'
    plain = env_of.CongestionEnv(shared, action="orca", under="reno-in-python", interval=0.05)
    same = env_of.CongestionEnv(shared, action="orca", under="reno", interval=0.05)
    assert env_of.score(plain, env_of.steady) == env_of.score(same, env_of.steady)
    knee.controller("broken", increase=1.0, decrease=0.5)(broken("def on_loss(self, loss):\n    return 1 / 0"))
    with pytest.raises(knee.RunError, match="broken"):
        env_of.score(env_of.CongestionEnv(shared, action="orca", under="broken"), env_of.steady)


def test_the_cost_is_measured_on_runs_with_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert kneepoint.cost.main(repeats=1) == 0
    assert "times as long" in capsys.readouterr().out


def test_this_file_is_typed() -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", str(Path(__file__))]
    done = subprocess.run(mypy, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout
