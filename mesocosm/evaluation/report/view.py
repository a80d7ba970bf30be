"""The page of one episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from mesocosm.errors import UsageError
from mesocosm.evaluation.looking import Look, look_at
from mesocosm.evaluation.report.page import document
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import place
from mesocosm.families.workers.workers import Workers
from mesocosm.worlds.workspace import replace_file

_STYLE = """<style>
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; background:
var(--soft);
  padding: .4rem; margin: .3rem 0; font-size: .82rem; }
tr.call { cursor: pointer; } tr.call:hover, tr.call:focus { background: var(--soft); }
td.arguments { max-width: 24rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; opacity: .8;
} td.tokens { min-width: 7rem; } .bar { display: block; height: 3px; background: #4269d0; }
tr.refused td:last-child, tr.fault td:last-child, li.failed b { color: var(--bad); } li.passed b { color:
var(--good); } details { border-bottom: 1px solid var(--line); padding: .15rem 0; }
summary { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
input[type=range] { width: 100%; }
</style>"""


def page(look: Look) -> str:
    """One file that shows the whole episode; what the agent and the world wrote is shown as text only."""
    # ``</script`` ends it, and ``<!--<script`` lets it go on behind its end: no such character is left.
    data = look.model_dump_json().replace("<", "\\u003c")
    script = resources.files("mesocosm.evaluation.report").joinpath("view.js").read_text(encoding="utf-8")
    length = f"{look.length:,} tokens asked for, " if look.length else ""
    facts = {
        "task": f"{look.task}: {look.title}",
        "instance": f"{length}{look.edl:,} measured, seed {look.seed}",
        "evidence delivered": f"{look.delivered} of {look.evidence} pieces",
        "calls": f"{len(look.calls):,}, {sum(call.tokens for call in look.calls):,} tokens",
        **look.facts,
    }
    told = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items())
    note = (
        ""
        if look.replayed
        else ('<p class="note">Code of the agent made calls here; what each call changed is not shown.</p>')
    )
    error = f"<pre>{escape(look.error)}</pre>" if look.error else ""
    body = f"""{_STYLE}<h1>{escape(look.verdict)}: {escape(look.task)}</h1>
<table>{told}</table>{error}
<h2>Findings</h2><ul id="findings"></ul>
<h2>What is different in the end</h2><div id="final"></div>
<h2>Calls</h2>{note}<p class="note">◆ marks results that hold evidence. Choose a line to see all of it.
<label>Show <select id="only"><option value="all">all</option><option value="evidence">evidence</option>
<option value="changes">changes</option><option value="errors">errors</option></select></label></p>
<div class="scroll"><table><thead><tr><th>#</th><th>turn</th><th>tool</th><th>arguments</th><th>tokens</th>
<th>evidence</th><th>changed</th><th></th></tr></thead><tbody id="calls"></tbody></table></div>
<div id="conversation"><h2>The context at a turn</h2><input type="range" id="turn" min="0" aria-label="turn">
<p class="note" id="turn-says"></p><div id="context"></div></div>
<script type="application/json" id="look">{data}</script><script>{script}</script>"""
    return document(f"{look.task}: {look.verdict}", body)


def write_pages(
    samples: Sequence[Sample], folder: Path, most: int, workers: Workers, report: Callable[[str], None]
) -> dict[str, str]:
    """Pages of the first failed samples whose episodes are kept, in ``episodes`` of a report's folder.

    Returns each page's path in the report's folder, by the folder of its episode.
    """
    failed = [sample for sample in samples if sample.verdict == "failed"]
    kept = [run for run in map(place, failed) if run and (Path(run) / "episode").is_dir()][:most]
    found: dict[str, str] = {}
    for number, (run, html) in enumerate(zip(kept, workers.reading(_page_of, map(Path, kept)), strict=True)):
        report(f"looking into failed episodes: {number + 1} of {len(kept)}")
        if html is None:
            continue
        (folder / "episodes").mkdir(parents=True, exist_ok=True)
        found[run] = f"episodes/{number + 1}.html"
        replace_file(folder / found[run], html.encode())
    return found


def _page_of(run: Path) -> str | None:
    try:
        return page(look_at(run))
    except UsageError:  # its task is gone, or another version's
        return None
