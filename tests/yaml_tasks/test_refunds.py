"""Refunds, comments on documents, commits, releases and an answer: what counts as done."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from trials import call, failed, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.families.proofs import prove_one

REFUNDS = Path(__file__).with_name("refunds.yaml")
FAMILY = load_family(str(REFUNDS))


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(FAMILY, 2, tmp_path_factory.mktemp("refunds") / "instance", parameters={"size": 7})


@pytest.fixture
def episode(tmp_path: Path, instance: Instance) -> Episode:
    return Episode.create(tmp_path / "episode", instance.path, FAMILY)


def sales(instance: Instance) -> list[Any]:
    written: Any = FAMILY._module("generators")
    found: list[Any] = written.truth_of(instance.expected).sets["sale"]
    return found


def told(episode: Episode, service: str, tool: str, **arguments: Any) -> Any:
    return orjson.loads(call(episode, service, tool, **arguments))


def test_it_is_proven() -> None:
    proof = prove_one(str(REFUNDS), 8_000, 1)
    assert not proof.problems, "\n".join(proof.problems)


def test_amounts_are_what_exact_arithmetic_gives(instance: Instance) -> None:
    for sale in sales(instance):
        total = Decimal(repr(sale["price"])) * sale["pieces"] * sale["rule"]["percent"] / 100
        assert Decimal(repr(sale["amount"])) == total.quantize(Decimal("0.01"), ROUND_HALF_UP)


class Desk:
    """What an agent does besides."""

    def __init__(self, episode: Episode, instance: Instance) -> None:
        self.episode = episode
        self.sales = sales(instance)
        self.approved = next(sale for sale in self.sales if sale.case == "approved")
        self.declined = next(sale for sale in self.sales if sale.case == "declined")
        self.me = told(episode, "codehost", "get_me")["login"]

    def refund(self, sale: Any, amount: str = "0.01", **more: Any) -> None:
        order = sale["order"]["id"]
        call(self.episode, "woocommerce", "woo_orders_refunds_create", orderId=order, amount=amount, **more)

    def cancel(self) -> None:
        order = self.approved["order"]["id"]
        data = {"status": "cancelled"}
        call(self.episode, "woocommerce", "woo_orders_update", orderId=order, orderData=data)

    def commit(self, path: str, branch: str = "main") -> None:
        where = {"owner": self.me, "repo": "rules", "branch": branch}
        files = [{"path": path, "content": "x\n"}]
        call(self.episode, "codehost", "push_files", **where, files=files, message="More")

    def comment(self, text: str) -> None:
        case = self.declined["claim"]["id"]
        call(self.episode, "documents", "add_comment", file_id=case, text=text)


@pytest.mark.parametrize(
    ("further", "broken"),
    [
        (lambda desk: None, set()),
        (lambda desk: desk.refund(desk.declined), {"woocommerce_refund_extra"}),
        (lambda desk: desk.refund(desk.approved, reason="more"), {"woocommerce_refund_extra"}),
        (lambda desk: desk.cancel(), {"woocommerce_unchanged"}),
        (lambda desk: desk.commit("README.md"), {"codehost_commit_extra"}),
        (lambda desk: desk.commit("notes.md", "aside"), {"codehost_commit_extra"}),
        (lambda desk: desk.comment("Declined."), {"documents_comment_extra"}),
    ],
)
def test_what_is_done_besides_is_found(
    episode: Episode, instance: Instance, further: Callable[[Desk], None], broken: set[str]
) -> None:
    further(Desk(episode, instance))  # before: the answer ends the episode
    solve(FAMILY, episode)
    assert failures(episode) == broken, failed(episode)


def test_lines_of_an_order_may_be_refunded_too(episode: Episode, instance: Instance) -> None:
    """That its pieces are back, and that an order refunded in full is refunded, follows."""
    desk = Desk(episode, instance)
    order = told(episode, "woocommerce", "woo_orders_get", orderId=desk.approved["order"]["id"])
    lines = [{"id": line["id"], "quantity": line["quantity"]} for line in order["line_items"]]
    desk.refund(desk.approved, order["total"], lineItems=lines, reason="other", restockItems=True)
    found = failures(episode)
    assert "woocommerce_refund_amount" in found
    assert "woocommerce_unchanged" not in found, failed(episode)


def test_a_reply_is_no_comment_of_its_own(episode: Episode, instance: Instance) -> None:
    case = Desk(episode, instance).approved["claim"]["id"]
    listed = told(episode, "documents", "list_comments", file_id=case)["comments"]
    assert [comment["author"] for comment in listed].count(listed[0]["author"]) == len(listed) == 2
    amount = Desk(episode, instance).approved["amount"]
    text = f"Refunded {amount:.2f}"
    call(episode, "documents", "reply_to_comment", comment_id=listed[0]["id"], text=text)
    assert failures(episode) & {"documents_comment_missing", "documents_comment_otherwise"}


def test_a_reply_can_be_asked_for_and_who_committed_is_read(tmp_path: Path) -> None:
    text = REFUNDS.read_text()
    for old, new in (
        (_LATER, f"    as: remark\n{_LATER}"),
        ('documents.comment: {document: "{claim.id}"', 'documents.comment: {reply_to: "{remark.id}"'),
        ('add_comment: {file_id: "{claim.id}"', 'reply_to_comment: {comment_id: "{remark.id}"'),
        ("codehost: {releases: true}", "codehost: {releases: true, commits: true}"),
        ("evidence:\n", f"evidence:\n{_COMMITTED}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (path := tmp_path / "replies.yaml").write_text(text)
    family = load_family(str(path))
    built = build_instance(family, 0, tmp_path / "instance", parameters={"size": 7})
    episode = Episode.create(tmp_path / "episode", built.path, family)
    me = told(episode, "codehost", "get_me")["login"]
    listed = call(episode, "codehost", "list_commits", owner=me, repo="rules")
    commits = orjson.loads(listed.split("\n")[0])
    authors = {one["commit"]["message"]: one["commit"]["author"]["name"] for one in commits}
    assert [name for message, name in authors.items() if message.startswith("State the share of")] != []
    shown = [one.contains for one in built.expected.evidence if one.contains.startswith('"sha"')]
    assert len(shown) == 3
    assert all(text in listed for text in shown)
    solve(family, episode)
    assert failures(episode) == set(), failed(episode)


_LATER = """    documents.comment:
      document: "{claim.id}"
      created_at: "{opened + 4d}"
"""
_COMMITTED = """  - for: rule
    codehost.file:
      repo: rules
      path: "{goods}.md"
      author: "{colleague.name}"
      message: "State the share of {goods}"
      content: "{goods} are paid back as the release says."
      date: "{me.since + 1d}"
"""
