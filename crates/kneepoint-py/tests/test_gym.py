# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The environment is one, follows the papers' definitions, and separates good controllers from bad ones."""

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env

import kneepoint as knee
import kneepoint.gym as env_of

LINK = """
queue = "droptail"
[run]
duration = "20s"
[topology]
kind = "dumbbell"
rate = "10mbit"
rtt = "50ms"
buffer = "1bdp"
[[flows]]
name = "agent"
count = 1
cc = "reno"
"""


@pytest.mark.parametrize("name", ["Aurora", "Window", "Orca"])
def test_gymnasiums_checker_passes(name: str) -> None:
    check_env(gymnasium.make(f"kneepoint/{name}-v0").unwrapped)


def test_the_same_seed_gives_the_same_episode() -> None:
    def episode(seed: int) -> list[float]:
        env = env_of.CongestionEnv(LINK)
        env.reset(seed=seed)
        agent = env_of.random_agent(env.action_space)
        return [env.step(agent(None))[1] for _ in range(50)]

    assert episode(1) == episode(1)


def test_a_window_of_the_bandwidth_delay_product_fills_the_link_without_a_queue() -> None:
    env = env_of.CongestionEnv(LINK, action="window", interval=0.1)
    env.reset(seed=1)
    # 10 Mbit/s times 50 ms are 41.7 packets of 1500 bytes.
    env.window = 40.0
    for _ in range(50):
        _, reward, _, _, seen = env.step(numpy.zeros(1, numpy.float32))
    assert seen["throughput_packets_per_s"] == pytest.approx(40 / 0.0512, rel=0.05)
    assert seen["rtt_mean_s"] < 0.055 and seen["loss"] == 0
    assert reward == pytest.approx(10 * seen["throughput_packets_per_s"] - 1000 * seen["rtt_mean_s"])


def test_an_environment_that_does_not_fit_into_memory_is_refused() -> None:
    large = LINK.replace("10mbit", "1000gbit").replace("50ms", "1000s").replace("1bdp", "10pkt")
    env = env_of.CongestionEnv(large + '[[cbr]]\nrate = "1000gbit"\nsize = "1b"\n')
    with pytest.raises(knee.RunError, match="TB of memory, above .* packets in flight"):
        env.reset(seed=1)


def test_a_rate_above_the_links_fills_the_buffer_and_loses() -> None:
    env = env_of.CongestionEnv(LINK, interval=0.1)
    env.reset(seed=1)
    env.rate = 2000.0
    for _ in range(50):
        _, _, _, _, seen = env.step(numpy.zeros(1, numpy.float32))
    assert seen["rtt_mean_s"] > 0.08 and seen["loss"] > 0.1, seen


def test_pert_scores_better_than_a_random_agent() -> None:
    options = {"observation": "orca", "reward": "orca", "action": "orca", "interval": 0.05, "under": "pert"}
    env = env_of.CongestionEnv(LINK, **options)  # type: ignore[arg-type]
    pert = env_of.score(env, env_of.steady)
    chance = env_of.score(env, env_of.random_agent(env.action_space))
    assert 0.5 < pert <= 1.01 and pert > chance + 0.05, (pert, chance)


def test_mistakes_are_told() -> None:
    with pytest.raises(knee.UsageError, match="aurora, orca"):
        env_of.CongestionEnv(LINK, reward="fame")  # type: ignore[arg-type]
    with pytest.raises(knee.UsageError, match="count = 1"):
        env_of.CongestionEnv(LINK.replace("count = 1", "count = 2")).reset(seed=1)
    with pytest.raises(knee.ScenarioError, match="rtt"):
        env_of.CongestionEnv(LINK.replace("50ms", "fifty")).reset(seed=1)
    with pytest.raises(knee.UsageError, match="controller"):
        env_of.CongestionEnv(LINK, action="orca", under="perd").reset(seed=1)
