"""GRPO on a task of a service: what sells slowly in a shop, at 8K tokens (`filter_low_selling_products`).

    mesocosm serve --port 8321
    export MESOCOSM_URL=http://127.0.0.1:8321 MESOCOSM_ADMIN_TOKEN=...
    python docs/examples/train_on_a_shop.py --plot curve.svg

No language model: a policy that has to choose how it understands words of the task, and acts by tools. What
is learned, and how (groups of rollouts on one instance, advantages within the group), is what a trainer of a
model does; the choices stand for what a model would read. It writes no mails, so its reward ends below 1.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import io
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import mesocosm
from mesocosm.hosting.client import BlockingEpisode, BlockingServer

TASK = "filter_low_selling_products"
CHOICES: dict[str, tuple[Any, ...]] = {
    "days on the shelf, more than": (30, 60, 90),
    "pieces sold, fewer than": (5, 10, 20),
    "orders that count": (
        ("completed",),
        ("processing", "completed"),
        ("processing", "completed", "pending"),
    ),
    "today counts": (False, True),
    "only what is published and in stock": (False, True),
    "a cheaper sale price is the promotional price": (False, True),
}
Choice = tuple[Any, ...]


class Policy:
    """A softmax over the values of each choice."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self.weights = [[0.0] * len(values) for values in CHOICES.values()]

    def shares(self, place: int) -> list[float]:
        """Return the probability of each value of a choice."""
        powers = [math.exp(weight) for weight in self.weights[place]]
        return [power / sum(powers) for power in powers]

    def draw(self) -> list[int]:
        """A value of each choice."""
        return [
            self._dice.choices(range(len(weights)), self.shares(place))[0]
            for place, weights in enumerate(self.weights)
        ]

    def learn(self, drawn: list[list[int]], rewards: list[float], rate: float) -> None:
        """One step of GRPO: what did better than its group becomes more probable."""
        mean = sum(rewards) / len(rewards)
        spread = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / len(rewards))
        if spread == 0:
            return
        before = [self.shares(place) for place in range(len(self.weights))]
        for values, reward in zip(drawn, rewards, strict=True):
            for place, value in enumerate(values):
                for other, share in enumerate(before[place]):
                    step = rate * (reward - mean) / spread / len(drawn)
                    self.weights[place][other] += step * ((other == value) - share)


class Shop:
    """Data that an agent reads in an instance, the same for all rollouts on it."""

    def __init__(self, episode: BlockingEpisode) -> None:
        told = re.search(r"It is now \w+, (\w+ \d+, \d{4})", episode.prompt)
        assert told
        self.today = dt.datetime.strptime(told[1], "%B %d, %Y").replace(tzinfo=dt.UTC).date()
        self.products = self._all(episode, "woo_products_list")
        self.orders = self._all(episode, "woo_orders_list")
        categories = self._all(episode, "woo_products_categories_list")
        self.clearance = next(one["id"] for one in categories if one["name"] == "Clearance")

    def _all(self, episode: BlockingEpisode, tool: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while page := episode.call("woocommerce", tool, perPage=100, page=len(found) // 100 + 1):
            found += page
            if len(page) < 100:
                break
        return found

    def slow(self, choice: Choice) -> list[tuple[dict[str, Any], int]]:
        """Products that sell slowly as the choice understands it, with their days on the shelf."""
        shelf, few, statuses, with_today, only_there, _ = choice
        first = self.today - dt.timedelta(days=30)
        sold: Counter[int] = Counter()
        for order in self.orders:
            day = dt.date.fromisoformat(order["date_created"][:10])
            if order["status"] in statuses and first <= day and (day < self.today or with_today):
                for line in order["line_items"]:
                    sold[line["product_id"]] += line["quantity"]
        found = []
        for product in self.products:
            days = (self.today - dt.date.fromisoformat(product["date_created"][:10])).days
            there = product["status"] == "publish" and product["stock_status"] == "instock"
            cleared = self.clearance in [one["id"] for one in product["categories"]]
            if days > shelf and sold[product["id"]] < few and not cleared and (there or not only_there):
                found.append((product, days))
        return found

    def table(self, slow: list[tuple[dict[str, Any], int]], sales: bool) -> str:
        """The list of clearance, as a CSV file."""
        rows = []
        for product, days in slow:
            price = float(product["regular_price"])
            now = price * (1 - (0.15 if days <= 180 else 0.30 if days <= 365 else 0.45))
            if sales and product["on_sale"]:
                now = min(now, float(product["sale_price"]))
            off = round(100 * (1 - now / price))
            rows.append((off, product["sku"], product["name"], f"{price:.2f}", f"{now:.2f}"))
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(["SKU", "Product Name", "Original Price", "Promotional Price", "Discount Ratio"])
        out.writerows([sku, name, price, now, f"{off}%"] for off, sku, name, price, now in sorted(rows))
        return text.getvalue()


def act(episode: BlockingEpisode, shop: Shop, values: list[int]) -> None:
    """Do the task as a choice understands it."""
    choice = tuple(of[value] for of, value in zip(CHOICES.values(), values, strict=True))
    slow = shop.slow(choice)
    moved = [{"id": product["id"], "categories": [{"id": shop.clearance}]} for product, _ in slow]
    if moved:
        episode.act("woo_products_batch_update", {"update": moved})
    episode.act("write_file", {"path": "clearance_list.csv", "content": shop.table(slow, choice[-1])})
    episode.act("claim_done")


def rollouts(server: BlockingServer, seed: int, shop: Shop | None, drawn: list[list[int]]) -> list[float]:
    """The rewards of a group on one instance."""
    group = server.create_batch([{"task": TASK, "length": "8k", "seed": seed, "count": len(drawn)}])
    for episode, values in zip(group, drawn, strict=True):
        act(episode, shop or Shop(episode), values)
    return [grade.reward or 0.0 for grade in server.grade_batch(group, "gained", delete=True)]


def train(steps: int, group: int, seed: int = 0, **server: Any) -> tuple[Policy, list[float], float]:
    """The policy, the mean reward of each step, and that of its best guess on instances it has not seen."""
    policy, curve, shops = Policy(seed), list[float](), dict[int, Shop]()
    with mesocosm.connect_sync(**server) as m:
        for step in range(steps):
            instance = step % 8
            if instance not in shops:
                episode = m.create(TASK, length="8k", seed=instance)
                shops[instance] = Shop(episode)
                episode.delete()
            drawn = [policy.draw() for _ in range(group)]
            rewards = rollouts(m, instance, shops[instance], drawn)
            policy.learn(drawn, rewards, rate=1.0)
            curve.append(sum(rewards) / group)
        best = [max(range(len(one)), key=one.__getitem__) for one in policy.weights]
        unseen = [rollouts(m, instance, None, [best])[0] for instance in range(100, 104)]
    return policy, curve, sum(unseen) / len(unseen)


def main() -> None:
    """Train, and show how the reward rises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--group", type=int, default=16)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    policy, curve, unseen = train(options.steps, options.group)
    for start in range(0, len(curve), 10):
        some = curve[start : start + 10]
        print(f"steps {start + 1} to {start + len(some)}: mean reward {sum(some) / len(some):.2f}")
    for place, (what, values) in enumerate(CHOICES.items()):
        shares = zip(values, policy.shares(place), strict=True)
        print(f"{what}: " + ", ".join(f"{value} {share:.2f}" for value, share in shares))
    print(f"its best guess, on four instances that it has not seen: {unseen:.2f}")
    if options.plot:
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 3), layout="constrained")
        axes.plot(range(1, len(curve) + 1), curve)
        axes.set(xlabel="step of GRPO (16 rollouts)", ylabel="mean reward (gained)", ylim=(0, 1))
        figure.savefig(options.plot)


if __name__ == "__main__":
    main()
