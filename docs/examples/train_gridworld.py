"""Trains a small policy on GridWorld through the Gymnasium environment: REINFORCE, with one number for each
field of the board and each tool. It does what a trainer does with a model: begin, act, be judged, learn.

    mesocosm serve --port 8321        # says where its admin token lies
    MESOCOSM_URL=http://127.0.0.1:8321 MESOCOSM_ADMIN_TOKEN=... python docs/examples/train_gridworld.py
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict

import gymnasium
import numpy

import mesocosm.training.gymnasium  # noqa: F401 - registers the environments

TOOLS = ("up", "down", "left", "right", "done")
Step = tuple[str, int]
"""Where it was, and the number of the tool that was called there."""


class Policy:
    """A chance for each tool at each field."""

    def __init__(self, seed: int, rate: float) -> None:
        self._preferences: defaultdict[str, numpy.ndarray] = defaultdict(lambda: numpy.zeros(len(TOOLS)))
        self._dice = numpy.random.default_rng(seed)
        self._rate, self._usual = rate, 0.0

    def _chances(self, place: str) -> numpy.ndarray:
        weights = numpy.exp(self._preferences[place] - self._preferences[place].max())
        return weights / weights.sum()

    def choose(self, place: str) -> int:
        """The number of a tool."""
        return int(self._dice.choice(len(TOOLS), p=self._chances(place)))

    def learn(self, steps: list[Step], reward: float) -> None:
        """Make what was done likelier if it paid more than what was done of late, else less likely."""
        for place, tool in steps:
            gradient = -self._chances(place)
            gradient[tool] += 1
            self._preferences[place] += self._rate * (reward - self._usual) * gradient
        self._usual += 0.05 * (reward - self._usual)


def place_in(text: str, before: str) -> str:
    """Parse the agent's position from a tool's answer; unchanged if the move was refused."""
    found = re.search(r"\(\d+, \d+\)", text)
    return found[0] if found else before


def train(episodes: int, size: int, seed: int, **server: str) -> list[float]:
    """The reward of each episode."""
    env = gymnasium.make(
        "mesocosm/Episode-v0",
        task="gridworld",
        parameters={"size": size},
        seeds=[seed],
        max_calls=4 * size,
        disable_env_checker=True,
        **server,
    )
    policy, rewards = Policy(seed, rate=1.0), []
    for _ in range(episodes):
        prompt, _ = env.reset(seed=seed)
        place = re.findall(r"Start: (\(\d+, \d+\))", prompt)[-1]
        steps, over, reward = [], False, 0.0
        while not over:
            tool = policy.choose(place)
            steps.append((place, tool))
            text, reward, ended, cut_off, _ = env.step(json.dumps({"tool": TOOLS[tool]}))
            place, over = place_in(text, place), ended or cut_off
        policy.learn(steps, float(reward))
        rewards.append(float(reward))
    env.close()
    return rewards


def main() -> None:
    """Train, and print how the reward rises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=600)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rewards = train(options.episodes, options.size, options.seed)
    for start in range(0, len(rewards), 100):
        some = rewards[start : start + 100]
        print(f"episodes {start + 1} to {start + len(some)}: mean reward {sum(some) / len(some):.2f}")


if __name__ == "__main__":
    main()
