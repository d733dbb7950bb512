# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Words, errors, progress and interrupts."""

import inspect
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import kneepoint as knee
from kneepoint import _sweep, _verbs, algorithms, errors
from kneepoint.cost import Reno

PACKAGE = Path(__file__).parents[1]

SCENARIO = """name = "small"
[run]
duration = "4s"
[topology]
kind = "dumbbell"
rate = "5mbit"
[[flows]]
cc = "pert"
count = 2
"""


def test_a_scenario_is_a_file_a_text_or_built_and_means_the_same(here: Path) -> None:
    Path("small.toml").write_text(SCENARIO)
    built = knee.Scenario(
        name="small",
        run={"duration": "4s"},
        topology={"kind": "dumbbell", "rate": "5mbit"},
        flows=[{"cc": "pert", "count": 2}],
    )
    results = [knee.run(source) for source in (Path("small.toml"), "small.toml", SCENARIO, built)]
    events = {tuple(result.rows["events"]) for result in results}
    assert len(events) == 1
    assert len(list(Path("out/runs").iterdir())) == 1, "one run serves all"


def test_a_mistake_in_a_scenario_has_its_line_its_range_and_its_remedy() -> None:
    with pytest.raises(knee.ScenarioError) as caught:
        knee.run(SCENARIO.replace("count = 2", "count = -2"))
    (fault,) = caught.value.faults
    assert (fault.line, SCENARIO.splitlines()[fault.line - 1]) == (9, "count = 2")
    assert "0 to 100000" in fault.message and "count = -2" in str(caught.value)
    with pytest.raises(knee.ScenarioError) as caught:
        knee.Scenario(topology={"kind": "dumbbell"}, flows=[{"cc": "perd"}])
    assert "perd" in str(caught.value) and "did you mean" in str(caught.value)
    assert isinstance(caught.value, ValueError)


# A source of one-byte packets, of which 10¹² fit on a path of 1000 s.
LARGE = """queue = "droptail"
[run]
duration = "10s"
[topology]
kind = "dumbbell"
rate = "1000gbit"
rtt = "1000s"
buffer = "1000pkt"
[[cbr]]
rate = "1000gbit"
size = "1b"
"""


def test_a_run_that_cannot_fit_into_memory_is_refused_with_what_takes_it(here: Path) -> None:
    for refused in (lambda: knee.run(LARGE), lambda: knee.run(LARGE, memory="1gb")):
        with pytest.raises(knee.RunError) as caught:
            refused()
        assert "a run would take about 128 TB of memory, above" in caught.value.message
        assert "packets in flight" in caught.value.message and "memory=" in (caught.value.remedy or "")
    with pytest.raises(knee.RunError, match="above the 100 kB of `memory`"):
        knee.run(SCENARIO, memory="100kb", fresh=True)
    with pytest.raises(knee.UsageError, match="memory"):
        knee.run(SCENARIO, memory="plenty")
    assert len(knee.run(SCENARIO, memory="1gb").rows) > 0


def test_a_cluster_is_told_the_memory_of_runs_and_one_without_enough_is_refused() -> None:
    class Cluster:
        def nodes(self) -> list[dict[str, object]]:
            machines = [(True, 2e9), (True, 4e9), (False, 9e9)]
            return [{"Alive": alive, "Resources": {"CPU": 2.0, "memory": size}} for alive, size in machines]

    _sweep._fits(Cluster(), 3_000_000_000)
    with pytest.raises(knee.RunError, match="about 5 GB of memory, above the 4 GB of the largest machine"):
        _sweep._fits(Cluster(), 5_000_000_000)
    with pytest.raises(errors.Part) as caught:
        words = ["run", "-", "--store=none", "--on=ray"]
        call = algorithms.call(words, SCENARIO, False, [])
        while not call.wait(0.05):
            pass
        call.answer()
    ((_, work, memory),) = caught.value.missing
    assert work > 0 and 1e5 < memory < 1e9


def test_a_mistake_in_a_call_is_told_as_the_command_line_tells_it() -> None:
    with pytest.raises(knee.UsageError, match="--flows"):
        knee.compare("pert", flows=0)
    with pytest.raises(knee.UsageError, match="--rate"):
        knee.compare("pert", rtae="5mbit")
    with pytest.raises(knee.UsageError, match="knee list controllers"):
        knee.compare("perd")
    with pytest.raises(knee.UsageError, match="neither text, number nor path"):
        knee.compare("pert", rate=object())
    with pytest.raises(knee.RunError, match="nowhere.toml"):
        knee.run("nowhere.toml")
    with pytest.raises(knee.UsageError, match='out="DIR"'):
        knee.compare("pert", pcap="r1-r2")


VERBS = [*_verbs.VERBS.values(), *(one for verb in _verbs.VERBS.values() for one in verb._questions.values())]


@pytest.mark.parametrize("verb", VERBS, ids=repr)
def test_a_list_stands_for_several_words_where_a_verb_takes_them(verb: _verbs.Verb) -> None:
    words = [option for option in verb._described["options"] if option["flag"] is None]
    if any(option["many"] for option in words):
        plain = verb._spoken(("a", "b", Path("c"), "d"), {})
        for written in ((["a", "b", Path("c"), "d"],), ("a", ("b", Path("c")), "d"), (["a"], ["b", Path("c"), "d"])):
            assert verb._spoken(written, {}) == plain == ([*verb._names, "a", "b", "c", "d"], None)
        with pytest.raises(knee.UsageError, match="empty"):
            verb([])
    refused = [["a", ["b"]]] if any(option["many"] for option in words) else ["a", ["b"]]
    with pytest.raises(knee.UsageError, match="neither text, number nor path"):
        verb._spoken(tuple(refused), {})


def test_schemes_in_a_list_are_compared_as_words_are(here: Path) -> None:
    words: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "4s", "seeds": 1}
    plain = measured(knee.compare("pert", "cubic", "vegas", **words))
    assert measured(knee.compare(["pert", "cubic", "vegas"], **words)) == plain
    assert measured(knee.compare("pert", ["cubic", "vegas"], **words)) == plain
    assert len(knee.coexist(["pert", "cubic"], buffers="1bdp", **words).rows) > 0


def test_what_a_call_has_just_made_is_not_said_to_be_read_back(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words: dict[str, Any] = {"duration": "2s", "rate": "1mbit", "seeds": 1, "progress": None}
    knee.compare(["pert"], out="first", **words)
    assert "read back" not in capfd.readouterr().err
    knee.compare(["pert"], out="second", **words)
    assert "1 of 1 runs were read back" in capfd.readouterr().err


def test_values_may_be_of_numpy_and_a_set_has_no_order(here: Path) -> None:
    numpy = pytest.importorskip("numpy")
    result = knee.compare(numpy.array(["pert"]), duration="2s", rate="1mbit", seeds=numpy.int64(2))
    assert sorted(set(result.rows["seed"])) == [1, 2]
    with pytest.raises(knee.UsageError, match="has no order"):
        knee.compare({"pert", "cubic"})


def test_only_one_scenario_is_given_itself() -> None:
    with pytest.raises(knee.UsageError, match="two scenarios"):
        knee.predict([SCENARIO, SCENARIO])


def test_fluid_models_and_the_markov_chain_answer(here: Path) -> None:
    assert knee.fluid.boundary("pert").json()["boundary_rtt_ms"] > 100
    trajectory = knee.fluid.run("pert", rtt="171ms", end="5s")
    assert trajectory.rows.columns[0] == "time_s" and len(trajectory.rows) > 100
    stability = knee.fluid("stability", "pert", x="rtt=50ms..300ms:4", y="flows=1..50:3")
    assert len(stability.rows) == 12
    for wrong in (("nothing", "pert"), ()):
        with pytest.raises(knee.UsageError, match="run, stability, boundary, design"):
            knee.fluid(*wrong)
    solved = knee.markov(arrivals=0.1, protocols=["tcp"])
    assert len(solved.rows) >= 1
    assert not list(here.iterdir()), "nothing is left behind"


def test_predictors_watch_a_scenario(here: Path) -> None:
    scores = knee.predict(SCENARIO, predictors=["vegas", "cim"]).rows
    assert {"vegas", "cim"} == set(scores["predictor"])


def test_progress_goes_to_a_function_with_an_estimate(here: Path) -> None:
    seen: list[knee.Progress] = []
    knee.compare("reno", rate="50mbit", flows=4, duration="300s", seeds=3, jobs=1, progress=seen.append)
    assert seen and all(0 <= one.fraction <= 1 for one in seen)
    assert any(one.message == "2 of 3 runs" for one in seen), seen
    assert [one.fraction for one in seen] == sorted(one.fraction for one in seen)


def test_other_threads_run_while_a_call_does(here: Path) -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    knee.compare("reno", rate="50mbit", flows=4, duration="60s", seeds=2, jobs=1)
    ended.set()
    thread.join()
    assert counted > 20, "the interpreter's lock was held"


def test_calls_from_several_threads_have_their_own_answers(here: Path) -> None:
    found: dict[int, list[float]] = {}

    def call(flows: int) -> None:
        found[flows] = knee.run(SCENARIO.replace("count = 2", f"count = {flows}"))["groups"]["flows"]

    threads = [threading.Thread(target=call, args=(flows,)) for flows in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {flows: [float(flows)] for flows in (1, 2, 3, 4)}


def test_calls_at_the_same_time_have_their_own_stores_controllers_and_progress(here: Path) -> None:
    @knee.controller("my-steps", increase=1.0, decrease=0.5)
    class Steps(Reno):
        """Halves its window, as Reno does."""

    @knee.controller("my-leaps", increase=1.0, decrease=0.1)
    class Leaps(Reno):
        """Gives way by a tenth."""

    words: dict[str, Any] = {"rate": "5mbit", "rtt": "20ms", "flows": 2, "duration": "60s", "seeds": 3, "jobs": 1}
    names = ("my-steps", "my-leaps")
    found: dict[str, list[str]] = {}
    # Each waits with its first progress for the other's, which there is only if both have runs under way.
    both = threading.Barrier(2, timeout=60)

    def call(name: str) -> None:
        begun: list[str] = []

        def progress(seen: knee.Progress) -> None:
            if not begun:
                begun.append(seen.message)
                both.wait()

        found[name] = measured(knee.compare(name, store=f"{name}-runs", progress=progress, **words))

    threads = [threading.Thread(target=call, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not both.broken and [len(list((here / f"{name}-runs").iterdir())) for name in names] == [3, 3]
    alone = {name: measured(knee.compare(name, store="others", progress=False, **words)) for name in names}
    assert found == alone and found["my-steps"] != found["my-leaps"]


def measured(result: knee.Result) -> list[str]:
    """The tables without the time that runs took."""
    return [f"{column}: {result[name][column]!r}" for name in ("groups", "links") for column in result[name].columns]


LONG = """
import kneepoint as knee
print("begun", flush=True)
try:
    knee.compare("reno", rate="20mbit", flows=4, duration="20s", seeds=5000, jobs=1, progress=False)
except KeyboardInterrupt as stopped:
    print(type(stopped).__name__, len(stopped.result.rows), stopped)
"""


def test_an_interrupt_keeps_finished_runs_and_returns_them(here: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", LONG], cwd=here, stdout=subprocess.PIPE, text=True)
    runs = here / "out" / "runs"
    deadline = time.monotonic() + 60
    while not runs.is_dir() or len(list(runs.glob("[0-9a-z]*.json"))) < 3:
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=20)
    kept = len(list(runs.glob("*.json")))
    assert "Interrupted" in said and f" {kept} " in said and "5000 runs finished and are kept" in said, said


def test_importing_takes_less_than_a_fifth_of_a_second() -> None:
    program = "import time; t = time.perf_counter(); import kneepoint; print(time.perf_counter() - t)"
    took = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(took) < 0.2, took
    heavy = "import sys, kneepoint; print([m for m in ('numpy', 'pandas', 'polars', 'IPython', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_and_signatures_know_the_options_of_the_command_line() -> None:
    assert "Rate of the bottleneck" in (inspect.getdoc(knee.compare) or "")
    assert "rate" in inspect.signature(knee.compare).parameters


def test_every_verb_about_results_is_a_function_with_its_questions() -> None:
    described = json.loads(knee._native.verbs())
    assert {"compare", "fluid"} <= {verb["name"] for verb in described}
    for verb in described:
        function = getattr(knee, verb["name"])
        assert verb["name"] in knee.__all__ and verb["about"] in (inspect.getdoc(function) or "")
        for question in verb["verbs"]:
            assert question["about"] in (inspect.getdoc(getattr(function, question["name"])) or "")
    assert sorted(knee.__all__) == sorted(set(knee.__all__)), "one name for two things"


NEWCOMER = """
import importlib, json
import kneepoint as knee

listed = json.loads(knee._native.verbs())
words = {"name": "words", "flag": None, "type": "str", "choices": [], "many": True, "separator": None}
words |= {"optional_value": False, "required": True, "default": [], "about": "The words"}
echo = {"name": "echo", "about": "Say words again", "verbs": [], "options": [words]}
knee._native.verbs = lambda: json.dumps([*listed, echo])
importlib.reload(knee._verbs)
importlib.reload(knee)
assert "echo" in knee.__all__ and "The words" in knee.echo.__doc__
assert knee.echo._spoken((["a", "b"],), {}) == (["echo", "a", "b"], None)

import stubs

assert "\\ndef echo(\\n    *words: Union[str, Sequence[str]],\\n" in stubs.verbs()
"""


def test_a_new_verb_needs_no_line_of_the_package() -> None:
    done = subprocess.run([sys.executable, "-c", NEWCOMER], cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_stubs_are_current_and_the_package_is_typed(here: Path) -> None:
    check = [sys.executable, str(PACKAGE / "stubs.py"), "--check"]
    subprocess.run(check, check=True)
    use = here / "use.py"
    use.write_text(
        "import kneepoint as knee\n"
        "scenario = knee.Scenario(topology={'kind': 'dumbbell', 'rate': '5mbit'}, flows=[{'cc': 'pert', 'count': 2}])\n"
        "knee.run(scenario, seeds=2).rows.columns\n"
        "knee.compare('pert', rate='5mbit', flows=3, tcp={'handshake': True}, out='x')\n"
        "knee.compare('pert', ['cubic', 'vegas'])\n"
        "knee.predict([scenario, 'other.toml'])\n"
    )
    wrong = here / "wrong.py"
    wrong.write_text(
        "import kneepoint as knee\n"
        "knee.compare('pert', flows='three')\n"
        "knee.compare('pert', flwos=3)\n"
        "knee.Scenario(topology={'kind': 'dumbbell', 'rat': '5mbit'})\n"
        "knee.run(['a.toml', 'b.toml'])\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(here / "cache")]
    fine = subprocess.run([*mypy, str(use)], capture_output=True, text=True, check=False)
    assert fine.returncode == 0, fine.stdout
    refused = subprocess.run([*mypy, str(wrong)], capture_output=True, text=True, check=False)
    assert [line for line in ("2", "3", "4", "5") if f"wrong.py:{line}:" not in refused.stdout] == [], refused.stdout
