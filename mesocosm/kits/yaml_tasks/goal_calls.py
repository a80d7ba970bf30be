"""Calls that reach a goal, derived from it for files without a solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Given = Mapping[str, Any]
Call = tuple[str, dict[str, Any]]
"""A tool of the service, and its arguments."""
_SELECTING = ("for", "cases", "where")
_DONE: dict[str, Any] = {"claim_done.claim_done": {}}
_ANSWER = "submit_answer.answer"
_FIRST_SHEET = "Sheet1"
"""The sheet of a new workbook."""


class Unknown(Exception):
    """A goal for which no call is known."""


def solution_of(goals: Sequence[Any], evidence: Sequence[Any]) -> list[dict[str, Any]]:
    """Derive the steps that reach the goals in order, ending with the declaration of being done.

    Raises:
        Unknown: Which goal needs steps of the file's own.
    """
    found: list[dict[str, Any]] = []
    ended = False
    for number, goal in enumerate(goals):
        what = next((key for key in goal if "." in key), "")
        make = _MAKES.get((what, goal.get("how", "add")))
        fields = goal.get(what)
        if make is None or not isinstance(fields, Mapping):
            raise Unknown(what or "a goal without a key service.thing")
        made = make(fields, evidence, number)
        step = {key: goal[key] for key in _SELECTING if key in goal}
        for tool, arguments in made if isinstance(made, list) else [made]:
            given = {key: value for key, value in arguments.items() if value is not None}
            found.append(step | {f"{what.partition('.')[0]}.{tool}": given})
        ended = ended or what == _ANSWER
    return found if ended else [*found, dict(_DONE)]


def known_goals() -> list[str]:
    """Goals that need no steps of the file's own."""
    return sorted({what if how == "add" else f"{what} ({how})" for what, how in _MAKES})


def _written(value: Any) -> Any:
    """Return the text to write so that a field is judged right."""
    if not isinstance(value, Mapping):
        return value
    for way in ("lines", "all_lines", "contains"):
        if way in value:
            return "\n".join(map(str, value[way])) if isinstance(value[way], list) else value[way]
    if "number" in value:
        return value["number"]
    if isinstance(value.get("one_of"), list) and value["one_of"]:
        return value["one_of"][0]
    raise Unknown(f"a field that is judged by {', '.join(value)}")


def _amount(value: Any) -> Any:
    text = str(_written(value))
    return f"{{({text[1:-1]}).fixed()}}" if text[:1] == "{" and text[-1:] == "}" else text


def _moment(value: Any) -> Any:
    return None if value is None else {"dateTime": _written(value)}


def _mail(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    texts = {
        name: _written(fields[name]) for name in ("to", "cc", "bcc", "subject", "body") if name in fields
    }
    return "send_email", {"subject": "Hello", "body": "Hello", **texts}


def _calendar_of(fields: Given, evidence: Sequence[Any]) -> Any:
    name = fields.get("calendar")
    if name is None:
        return None
    for one in evidence:
        told = one.get("calendar.calendar") if isinstance(one, Mapping) else None
        if isinstance(told, Mapping) and told.get("summary") == name and one.get("as") and "for" not in one:
            return f"{{{one['as']}.id}}"
    raise Unknown(f"an event in the calendar {name!r}, which no evidence gives a name by `as`")


def _event(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    plain = ("summary", "description", "location", "transparency", "status", "recurrence")
    arguments: dict[str, Any] = {"calendarId": _calendar_of(fields, evidence)}
    arguments |= {name: _written(fields[name]) for name in plain if name in fields}
    if "attendees" in fields:
        guests = fields["attendees"]
        arguments["attendees"] = [
            {"email": one} for one in (guests if isinstance(guests, list) else [guests])
        ]
    return "create_event", arguments | {name: _moment(fields.get(name)) for name in ("start", "end")}


def _changed_event(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    _, arguments = _event(fields, evidence, number)
    return "update_event", {"eventId": fields.get("id"), **arguments}


def _removed_event(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    return "delete_event", {"calendarId": _calendar_of(fields, evidence), "eventId": fields.get("id")}


def _csv(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    return "write_file", {"path": fields.get("path"), "content": f"{{rows_of({number}).csv()}}"}


def _text(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    return "write_file", {"path": fields.get("path"), "content": _written(fields.get("content", ""))}


def _comment(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    if "reply_to" in fields:
        return "reply_to_comment", {
            "comment_id": fields["reply_to"],
            "text": _written(fields.get("text", "")),
        }
    return "add_comment", {"file_id": fields.get("document"), "text": _written(fields.get("text", ""))}


def _issue_comment(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    where = {"owner": "{me.email.login()}", "repo": fields.get("repo")}
    return "add_issue_comment", {
        **where,
        "issue_number": fields.get("number"),
        "body": _written(fields.get("body", "")),
    }


def _sheet(fields: Given, evidence: Sequence[Any], number: int) -> list[Call]:
    """A sheet that is there is written over, and any other is made, with its workbook."""
    path, sheet = fields.get("path"), fields.get("sheet")
    told = [one["excel.sheet"] for one in evidence if isinstance(one, Mapping) and "excel.sheet" in one]
    there = [one.get("sheet") for one in told if isinstance(one, Mapping) and one.get("path") == path]
    place = {"filepath": path, "sheet_name": sheet}
    found: list[Call] = [("write_data_to_excel", {**place, "data": f"{{rows_of({number}).cells()}}"})]
    if sheet not in there:
        found.insert(0, ("create_worksheet", place))
    if not there:
        found.insert(0, ("create_workbook", {"filepath": path}))
        found.insert(2, ("delete_worksheet", {"filepath": path, "sheet_name": _FIRST_SHEET}))
    return found if sheet != _FIRST_SHEET or there else [found[0], found[-1]]


def _row_by(tool: str) -> Callable[[Given, Sequence[Any], int], Call]:
    """A row of a warehouse: its table may be told in many ways, and the statement is made of its values."""
    return lambda fields, evidence, number: (tool, {"query": f"{{statement_of({number})}}"})


def _refund(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    arguments = {"orderId": fields.get("order"), "amount": _amount(fields.get("amount", ""))}
    return "woo_orders_refunds_create", {**arguments, "reason": fields.get("reason"), "restockItems": False}


def _issue(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    texts = {
        name: _written(fields[name]) for name in ("title", "body", "labels", "assignees") if name in fields
    }
    return "issue_write", {
        "method": "create",
        "owner": "{me.email.login()}",
        "repo": fields.get("repo"),
        **texts,
    }


def _commit(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    texts = {name: _written(fields[name]) for name in ("path", "message", "content") if name in fields}
    where = {
        "owner": "{me.email.login()}",
        "repo": fields.get("repo"),
        "branch": fields.get("branch", "main"),
    }
    return "create_or_update_file", {**where, **texts}


def _answer(fields: Given, evidence: Sequence[Any], number: int) -> Call:
    return "submit_answer", {"answer": _written(fields.get("answer", ""))}


_MAKES: dict[tuple[str, str], Callable[[Given, Sequence[Any], int], Call | list[Call]]] = {
    ("email.mail", "add"): _mail,
    ("calendar.event", "add"): _event,
    ("calendar.event", "change"): _changed_event,
    ("calendar.event", "remove"): _removed_event,
    ("filesystem.csv", "add"): _csv,
    ("filesystem.text", "add"): _text,
    ("documents.comment", "add"): _comment,
    ("woocommerce.refund", "add"): _refund,
    ("codehost.issue", "add"): _issue,
    ("codehost.commit", "add"): _commit,
    (_ANSWER, "add"): _answer,
    ("codehost.comment", "add"): _issue_comment,
    ("excel.sheet", "add"): _sheet,
    ("excel.sheet", "change"): _sheet,
    **{("snowflake.row", how): _row_by("write_query") for how in ("add", "change", "remove")},
    **{("google_cloud.row", how): _row_by("bigquery_run_query") for how in ("add", "change", "remove")},
}
