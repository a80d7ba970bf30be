"""How fields are judged, where it was decided once what is the same: see ``docs/judging.md``."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from mesocosm.kits.html_text import visible_text
from mesocosm.kits.yaml_tasks.evidence_proof import Collecting, missing
from mesocosm.kits.yaml_tasks.fairness import _Refusing
from mesocosm.kits.yaml_tasks.grading import _lines_of, matches

LINE = "I will be there at 2025-02-26 11:45"
SAID = {"lines": LINE, "only": "(?i).*be there at.*"}


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (LINE, True),
        (f"Dear Ann,\r\n\r\n  {LINE}.\r\n\r\nBob", True),
        (LINE.replace(" ", "  "), True),
        (f"{LINE}5", False),
        (f"{LINE} PM", False),
        (f"It is not true that {LINE}", False),
        (f"{LINE}\nOr I will be there at 2025-02-27 09:00", False),
        (f"{LINE}\nI  will  be  there  at 2025-02-27 09:00", False),
        (f"{LINE}\nI will be\u00a0there at 2025-02-27 09:00", False),
        (f"{LINE}\nI will be th\u200bere at 2025-02-27 09:00", False),
        (f"{LINE}\n\uff29 will be there at \uff19", False),
        (LINE.replace("11", "\uff11\uff11"), False),
        *((f"{LINE}\nI will be th{unseen}ere at 2025-02-27 09:00", False) for unseen in "\u034f\ufe0f\u115f"),
        (f"It is not true that \x1c{LINE}", False),
        (f"It is not true that \x85{LINE}", False),
        (f"{LINE}\n{LINE}", False),
        ("", False),
        (None, False),
    ],
)
def test_a_line_that_is_asked_for_stands_alone(found: Any, right: bool) -> None:
    assert matches(SAID, found) is right


@pytest.mark.parametrize(
    ("wanted", "found", "right"),
    [
        (12.5, "12.50", True),
        (12.5, "12,50", False),
        (1200, "1,200", False),
        (137.55, "1_37.55", False),
        (12, "\uff11\uff12", False),
        (0.125, "12.5%", False),
        (3, 10**400, False),
        (3, float("nan"), False),
        ("Visit: Ann Lee (Acme)", "Visit: Mary Ann Lee (Acme)", False),
        (dt.datetime(2025, 3, 3, 9, 5, tzinfo=dt.UTC), "2025-03-03T09:05Z", True),
        (dt.datetime(2025, 3, 3, 9, 5, tzinfo=dt.UTC), "2025-03-03T10:05:00+01:00", True),
        (dt.datetime(2025, 3, 3, 9, 5, tzinfo=dt.UTC), "2025-03-03T09:05:30Z", False),
        (dt.datetime(2025, 3, 3, 9, 5, tzinfo=dt.UTC), "20250-03-03T09:05:30Z", False),
        ("05/09/2025", dt.datetime.fromisoformat("2025-05-09"), True),
        ("05/09/2025", dt.datetime.fromisoformat("2025-09-05"), False),
        ("05/09/2025", dt.datetime.fromisoformat("2025-05-09T01:00"), False),
        ("14:00", dt.time(14), True),
        ("14:00", dt.time(14, 0, 1), False),
        ("14:00", dt.timedelta(hours=14), True),
    ],
)
def test_values_are_the_same_or_not(wanted: Any, found: Any, right: bool) -> None:
    assert matches(wanted, found) is right


@pytest.mark.parametrize(
    ("around", "right"),
    [
        ("<section>Hello</section><section>{}</section>", True),
        ("<address>Ann</address><footer>{}</footer>", True),
        ("<table><tr><td>Hello</td></tr><tr><td>{}</td></tr></table>", True),
        ("<p>It is not true that <br style='display:none'>{}</p>", False),
        ("<p>It is not true that <div style='display:inline'>{}</div></p>", False),
        ("<p style='text-decoration: line-through'>{}</p>", False),
    ],
)
def test_lines_of_html_are_those_that_a_reader_sees(around: str, right: bool) -> None:
    assert (LINE in _lines_of(around.format(LINE)).splitlines()) is right


@pytest.mark.parametrize("tag", ["s", "del", "strike"])
def test_what_is_struck_out_is_not_said(tag: str) -> None:
    assert visible_text(f"<p>At <{tag}>9:00</{tag}> 10:00</p>").split() == ["At", "10:00"]


def test_a_flag_that_is_not_shown_is_named_as_such() -> None:
    told = [("codehost", "false", "incident 0: pre"), ("codehost", "v1.2", "incident 0: tag")]
    flag, text = missing(Collecting(_Refusing()), told)
    assert "incident 0: pre is told by codehost as a flag that is false, which it does not show" in flag
    assert "in a text that the survey does not deliver: 'v1.2'" in text
