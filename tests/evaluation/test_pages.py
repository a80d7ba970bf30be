"""The pages of a report, in a real browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from mesocosm.evaluation.report.page import write_report
from mesocosm.evaluation.report.rows import Sample, read_samples
from mesocosm.evaluation.runs import Actor, WantedRun, run_task
from mesocosm.families.family import load_family

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
browser_needed = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")
_PROBE = """<script>addEventListener("load", () => { document.title = JSON.stringify({
  wide: document.documentElement.scrollWidth, window: innerWidth,
  fetched: performance.getEntriesByType("resource").length,
  text: getComputedStyle(document.body).color,
  drawn: Math.min(...[...document.querySelectorAll("svg")].map((one) => one.getBoundingClientRect().height))
}); });</script>"""


def seen(html: str, folder: Path, *, dark: bool, width: int) -> dict[str, Any]:
    """What a browser makes of a page."""
    assert BROWSER
    path = folder / f"{width}.html"
    path.write_text(html.replace("</body>", f"{_PROBE}</body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]
    command += [f"--user-data-dir={folder}/profile", "--virtual-time-budget=3000", "--dump-dom"]
    command += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stderr[-500:]
    found: dict[str, Any] = json.loads(unescape(title[1]))
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the reference agent."""
    out = tmp_path_factory.mktemp("looking") / "run"
    task = load_family("excel_market_research")
    assert run_task(task, WantedRun(8_000), Actor("reference"), out).verdict == "passed"
    return out


def samples() -> list[Sample]:
    """Two models, three lengths, two strategies, some failures and an error."""
    found = []
    for number in range(96):
        length = (8_000, 32_000, 128_000)[number % 3]
        passed = number % (2 + number % 3) == 0
        known: dict[str, Any] = {"task": f"task_{number % 2}", "length": length, "seed": number // 12}
        known |= {
            "strategy": ("none", "awareness")[number // 48],
            "edl": length,
            "density": 0.1 * (1 + number % 5),
        }
        known |= {"verdict": "errored" if number == 7 else "passed" if passed else "failed"}
        known |= {"failure": "" if passed or number == 7 else ("source_missed", "format")[number % 2]}
        known |= {"tool_calls": length // 500, "delivered_tokens": length, "trajectory_length": 2 * length}
        found.append(Sample(**known, model=f"model<{number % 2}>", sample=str(number), error="<b>gone</b>"))
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on these."""
    out = tmp_path_factory.mktemp("report")
    write_report(samples(), out)
    return out


@pytest.mark.long
def test_a_report_has_the_same_bytes_each_time(report: Path, tmp_path: Path) -> None:
    written = write_report(samples(), tmp_path)
    assert {path.name for path in written} == {path.name for path in report.iterdir()}
    assert all(path.read_bytes() == (report / path.name).read_bytes() for path in written)


def test_a_report_holds_intervals_and_counts(report: Path) -> None:
    names = {path.name for path in report.iterdir()}
    assert {"index.html", "report.md", "samples.csv", "accuracy.png", "accuracy.svg", "failures.svg"} <= names
    assert {
        "accuracy.pdf",
        "half-length.pdf",
        "abilities.svg",
        "table-pairs.tex",
        "table-by-length.pdf",
    } <= names
    html = (report / "index.html").read_text()
    assert "model<0>" not in html
    assert "model&lt;0&gt;" in html
    assert not re.search(r"(src|href)=\"(?!#|data:)", html), "nothing is fetched"
    lines = (report / "summary.csv").read_text().splitlines()
    assert len(lines) == 1 + 4
    assert re.search(r"model<1>,23,12,1,0,\d", lines[3]), "the error is counted apart"


@browser_needed
@pytest.mark.parametrize(("dark", "width"), [(False, 1300), (True, 520)])
def test_the_report_fits_a_browser_in_light_and_dark(
    report: Path, tmp_path: Path, dark: bool, width: int
) -> None:
    found = seen((report / "index.html").read_text(), tmp_path, dark=dark, width=width)
    assert found["fetched"] == 0
    assert found["wide"] <= found["window"], "the page itself does not scroll sideways"
    assert found["drawn"] > 100
    assert (found["text"] == "rgb(255, 255, 255)") is dark


def test_run_directories_can_be_reported_on(run: Path, tmp_path: Path) -> None:
    [sample] = read_samples([run])
    assert (sample.model, sample.verdict, sample.length) == ("reference", "passed", 8_000)
    assert sample.coverage == 1
    failed = sample.model_copy(update={"verdict": "failed"})
    write_report([failed], tmp_path, links={str(run): "episodes/1.html"})
    assert '<a href="episodes/1.html">' in (tmp_path / "index.html").read_text()
