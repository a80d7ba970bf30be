"""The pickups of a product recall."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable
from itertools import islice, product

import orjson
import pytest
from trials import call, failures, rows_of, sizes, solve

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance
from mesocosm.generators.recall_campaign import letters
from mesocosm.generators.recall_campaign.expected import HOLDING, Expected, Pickup
from mesocosm.generators.recall_campaign.filling import survey
from mesocosm.generators.recall_campaign.params import FATES, Params
from mesocosm.kits.prose import Prose
from mesocosm.solvers.recall_campaign import what_became_of_it

FAMILY = load_family("recall_campaign")
Build = Callable[..., Instance]


def create_event(episode: Episode, expected: Expected, pickup: Pickup, **more: object) -> str:
    wall = pickup.local.replace(" ", "T") + ":00"
    length = pickup.end - pickup.start
    arguments: dict[str, object] = {
        "calendarId": expected.calendar,
        "summary": pickup.title,
        "start": {"dateTime": wall, "timeZone": expected.zone},
        "end": {"dateTime": (pickup.start + length).isoformat()},
    }
    return call(episode, "calendar", "create_event", **(arguments | more))


def arrange(episode: Episode, expected: Expected, pickups: list[Pickup] | None = None) -> None:
    for pickup in expected.pickups if pickups is None else pickups:
        create_event(episode, expected, pickup)
        body = f"We come at\n{pickup.local} for " + " and ".join(f"order #{n}" for n in pickup.orders)
        call(episode, "email", "send_email", to=pickup.email, subject=pickup.title, body=body)
        for number in pickup.orders:
            call(episode, "woocommerce", "woo_orders_notes_create", orderId=number, note=pickup.note)


def wordings(ways: tuple[str, ...], **values: str) -> list[str]:
    """Everything that can be said in these ways."""
    found = []
    for way in ways:
        parts = re.split(r"\[([^\]]*)\]", way)
        drawn = product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts)))
        found += ["".join(one).format(**values) for one in drawn]
    return found


@pytest.mark.parametrize(
    ("said", "state"), [("RETURNED", "returned"), ("NOT_RETURNED", "kept"), ("QUESTION", None)]
)
def test_the_solver_reads_every_wording(said: str, state: str | None) -> None:
    for text in wordings(getattr(letters, said)):
        assert what_became_of_it(text) == state, text


def test_a_day_that_is_asked_for_is_read_whatever_else_is_said() -> None:
    for text in wordings(letters.WISH, day="Friday, October 3, 2025"):
        assert what_became_of_it(text) == dt.date(2025, 10, 3), text
    assert not any(what_became_of_it(text) for text in wordings(letters.CHANGED))


@pytest.mark.parametrize(
    "name", ["Tulip Long-life Cordless Drill", "Kite City Helmet", "Moss Warm String Lights"]
)
def test_nothing_is_read_into_what_stands_beside_it(name: str) -> None:
    for text in islice(letters.asides(Prose(random.Random(4)), name, ()), 3000):
        assert what_became_of_it(text) is None, text


def test_no_wording_has_eight_words_that_are_always_the_same() -> None:
    ways = (*letters.RETURNED, *letters.NOT_RETURNED, *letters.WISH, *letters.CHANGED, *letters.QUESTION)
    for way in ways:
        fixed = re.split(r"\[[^\]]*\]|\{day\}", way)
        assert max(len(part.split()) for part in fixed) < 8, way


@pytest.mark.parametrize("number", [16, 17, 40, 400])
def test_every_kind_of_case_occurs_at_every_size(number: int) -> None:
    fates = Params(num_customers=number).fates()
    assert len(fates) == number
    assert set(fates) == set(FATES)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_edge_case_occurs_at_every_length(build: Build, size: str, seed: int) -> None:
    instance = build(seed, num_customers=sizes(FAMILY)[size])
    expected = instance.expected
    assert {case.fate for case in [*expected.pickups, *expected.others]} == set(FATES)
    notices = "SELECT title FROM documents WHERE title LIKE 'Recall {}: notice%' ORDER BY title"
    found = rows_of(instance, "documents", notices.format(expected.public["recall"]))
    assert len(found) == 3, "no notice is superseded"
    taken = "SELECT count(*) FROM events WHERE transparency = '{}' AND start_at NOT LIKE '%-%-%T%:00:00Z'"
    assert rows_of(instance, "calendar", taken.format("opaque"))[0][0], "no booking lies across slots"
    free = "SELECT count(*) FROM events WHERE transparency = 'transparent'"
    assert rows_of(instance, "calendar", free)[0][0], "no event leaves its slot free"


def test_what_is_settled_in_another_recall_is_about_what_that_one_recalls(
    episode: Episode, expected: Expected
) -> None:
    number = int(expected.public["recall"][2:])
    listed = orjson.loads(call(episode, "documents", "list_recent_documents", per_page=100))["documents"]
    texts = {one["title"]: call(episode, "documents", "read_document", file_id=one["id"]) for one in listed}
    [sku] = re.findall(r"SKU ([\w-]+)", texts[f"Recall R-{number - 7}: notice, revision 1"])
    orders = re.findall(r"^#(\d+)", texts[f"Recall R-{number - 7}: settled orders"], re.MULTILINE)
    assert {int(order) for order in orders} <= {n for pickup in expected.pickups for n in pickup.orders}
    for order in orders:
        whole = orjson.loads(call(episode, "woocommerce", "woo_orders_get", orderId=int(order)))
        assert sku in {line["sku"] for line in whole["line_items"]}


def test_what_is_taken_back_is_what_was_said() -> None:
    (parcel, parcel_back), (hand, hand_back), (others, never) = letters.TAKEN_BACK
    assert {*parcel, *hand, *others} == {*letters.RETURNED}
    assert {*parcel_back, *hand_back, *never} == {*letters.NOT_RETURNED}
    assert not any(word in way for way in parcel_back for word in ("counter", "shop", "never left"))
    assert not any(word in way for way in hand_back for word in ("parcel", "courier", "label", "never left"))
    assert not any("letter" in way for way in letters.LATER), "who named a day did not return it at once"


def test_the_share_of_pickups_is_kept() -> None:
    fates = Params(num_customers=1000, pickup_rate=0.4).fates()
    assert sum(fate in HOLDING for fate in fates) == pytest.approx(400, abs=5)


def test_slots_go_by_order_number_and_no_two_cases_share_one(expected: Expected) -> None:
    assert [p.orders[0] for p in expected.pickups] == sorted(p.orders[0] for p in expected.pickups)
    assert len({p.start for p in expected.pickups}) == len(expected.pickups)


def test_there_are_no_pickups_on_the_first_day(episode: Episode, expected: Expected) -> None:
    assert all(pickup.local[:10] > expected.horizon[0][:10] for pickup in expected.pickups)
    window = {"timeMin": expected.horizon[0], "timeMax": f"{expected.pickups[0].start:%Y-%m-%dT%H:%M:%SZ}"}
    listed = call(episode, "calendar", "list_events", calendarId=expected.calendar, **window)
    assert "the van is at the garage" in listed


def test_doing_what_is_asked_passes(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    assert episode.grade().verdict == "passed"


def test_an_event_that_was_made_wrong_and_deleted_does_no_harm(episode: Episode, expected: Expected) -> None:
    made = create_event(episode, expected, expected.pickups[0], summary="Recall pickup")
    event = made.partition('"id":"')[2].partition('"')[0]
    call(episode, "calendar", "delete_event", calendarId=expected.calendar, eventId=event)
    arrange(episode, expected)
    assert failures(episode) == set()


def _one_mail_otherwise(episode: Episode, expected: Expected, **mail: str) -> None:
    """All is arranged; into what the first customer gets, slot and orders are filled."""
    first, *others = expected.pickups
    arrange(episode, expected, others)
    create_event(episode, expected, first)
    values = {
        "slot": first.local,
        "orders": ", ".join(f"#{number}" for number in first.orders),
        "other": str(others[0].orders[0]),
    }
    filled = {name: text.format(**values) for name, text in mail.items()}
    call(episode, "email", "send_email", to=first.email, subject=first.title, **filled)
    for number in first.orders:
        call(episode, "woocommerce", "woo_orders_notes_create", orderId=number, note=first.note)


@pytest.mark.parametrize(
    "mail",
    [
        {
            "body": "At {slot}, for {orders}",
            "html_body": "<style>p {{color: #111}}</style><p style='color:#33'>At {slot}: {orders}&#33;</p>",
        },
        {"body": "", "html_body": "<p>At<br>{slot}, for {orders}</p>"},
        {"body": "At {slot} (UTC+5:30), until 11:00. Orders: {orders}. You did order 2 of them."},
        {"body": "Your order 2025-01-02, as we call it: {orders}. We come on {slot}:00."},
    ],
)
def test_a_mail_may_be_written_in_many_ways(
    episode: Episode, expected: Expected, mail: dict[str, str]
) -> None:
    _one_mail_otherwise(episode, expected, **mail)
    assert failures(episode) == set()


@pytest.mark.parametrize(
    ("mail", "found"),
    [
        ({"body": "At {slot}, for {orders}", "html_body": "<p>Hello</p>"}, {"mail_slot", "mail_orders"}),
        (
            {"body": "At {slot}, for {orders}", "html_body": "<p>{slot}</p><p hidden>{orders}</p>"},
            {"mail_orders"},
        ),
        ({"body": "See below.", "html_body": "<p>{slot}, {orders}</p>"}, {"mail_slot", "mail_orders"}),
        ({"body": "At {slot} UTC, for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot} (UTC-7), for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot}+00:00, for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot} EST, for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot} PM, for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot}, for {orders}. Order no.: {other}"}, {"mail_orders"}),
        ({"body": "At {slot}, for {orders}, orders 34378 and {other}"}, {"mail_orders"}),
        ({"body": "At {slot}Z, for {orders}"}, {"mail_slot"}),
        ({"body": "At {slot}, for {orders} and order no. {other}"}, {"mail_orders"}),
        ({"body": "At {slot}, for {orders} and order {other}"}, {"mail_orders"}),
    ],
)
def test_a_mail_says_it_in_each_of_its_forms_and_says_no_more(
    episode: Episode, expected: Expected, mail: dict[str, str], found: set[str]
) -> None:
    _one_mail_otherwise(episode, expected, **mail)
    assert failures(episode) == found


def test_an_event_that_was_moved_away_and_back_does_no_harm(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    span = {"timeMin": expected.horizon[0], "timeMax": expected.horizon[1]}
    listed = orjson.loads(call(episode, "calendar", "list_events", calendarId=expected.calendar, **span))
    event = next(one["id"] for one in listed["items"] if "Recall" not in one["summary"])
    moved = {"calendarId": expected.calendar, "destination": "primary"}
    call(episode, "calendar", "move_event", eventId=event, **moved)
    assert failures(episode) == {"calendar"}
    moved = {"calendarId": "primary", "destination": expected.calendar}
    call(episode, "calendar", "move_event", eventId=event, **moved)
    assert failures(episode) == set()


def test_doing_nothing_fails(episode: Episode) -> None:
    assert {"events_missing", "slots", "mails_missing", "mail_slot", "notes_missing"} <= failures(episode)


def test_a_pickup_for_everybody_fails(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    last = expected.pickups[-1]
    for case in expected.others:
        needless = last.model_copy(update={"name": case.name, "email": case.email, "orders": case.orders})
        arrange(episode, expected, [needless])
    assert failures(episode) == {"events_extra", "mails_extra", "notes_extra"}


def test_a_status_instead_of_a_note_is_a_finding_of_its_own(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    order = expected.pickups[0].orders[0]
    call(episode, "woocommerce", "woo_orders_update", orderId=order, orderData={"customer_note": "Recalled"})
    assert failures(episode) == {"shop"}


def test_inviting_the_customer_is_a_finding_of_its_own(episode: Episode, expected: Expected) -> None:
    first, *others = expected.pickups
    arrange(episode, expected, others)
    create_event(episode, expected, first, attendees=[{"email": first.email}])
    body = f"{first.local} " + " ".join(f"#{number}" for number in first.orders)
    call(episode, "email", "send_email", to=first.email, subject=first.title, body=body)
    for number in first.orders:
        call(episode, "woocommerce", "woo_orders_notes_create", orderId=number, note=first.note)
    assert failures(episode) == {"calendar"}


def test_a_new_document_is_collateral_damage(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    call(episode, "documents", "create_document", title="Pickups", content="All done.")
    assert failures(episode) == {"documents"}


def test_a_draft_left_behind_is_collateral_damage(episode: Episode, expected: Expected) -> None:
    arrange(episode, expected)
    call(episode, "email", "save_draft", subject="Recall", body="Later", to=expected.pickups[0].email)
    assert failures(episode) == {"mailbox"}


def test_what_was_undone_or_saved_unchanged_or_downloaded_does_no_harm(
    episode: Episode, expected: Expected
) -> None:
    span = {"timeMin": expected.horizon[0], "timeMax": expected.horizon[1]}
    listed = call(episode, "calendar", "list_events", calendarId=expected.calendar, **span)
    other = orjson.loads(listed)["items"][0]
    arrange(episode, expected)
    for summary in ("Something else", other["summary"]):
        changed = {"calendarId": expected.calendar, "eventId": other["id"], "summary": summary}
        call(episode, "calendar", "update_event", **changed)
    order = {"orderId": expected.pickups[0].orders[0]}
    for note in ("Ring twice.", ""):
        call(episode, "woocommerce", "woo_orders_update", **order, orderData={"customer_note": note})
    document = orjson.loads(call(episode, "documents", "list_recent_documents"))["documents"][0]["id"]
    call(episode, "documents", "append_to_document", file_id=document, content="Not this one.")
    call(episode, "documents", "restore_version", file_id=document, version=1)
    call(episode, "documents", "download_file", file_id=document, path="copies/rules.md")
    assert failures(episode) == set()


def test_a_long_list_of_settled_orders_is_read_to_its_end(episode: Episode, expected: Expected) -> None:
    """By the solver and by the survey: in a world of 2M tokens it comes in several stretches."""
    listed = orjson.loads(call(episode, "documents", "list_recent_documents", per_page=100))["documents"]
    title = f"Recall {expected.public['recall']}: settled orders"
    [settled] = [one["id"] for one in listed if one["title"] == title]
    heading, _, rest = call(episode, "documents", "read_document", file_id=settled).partition("\n\n")
    others = "\n".join(f"#{number}: paid back in cash" for number in range(900_000, 901_500))
    whole = f"{heading}\n\n{others}\n{rest}"
    call(episode, "documents", "update_document", file_id=settled, content=whole)
    before = episode.world.journal.last
    with McpTools(world_server(episode.world)) as tools:
        survey(tools, expected)
    read = [entry.result for entry in episode.world.journal.entries() if entry.seq > before]
    assert any(rest.rstrip().splitlines()[-1] in str(result) for result in read)
    solve(FAMILY, episode)
    assert failures(episode) == {"documents"}
