"""The page of a report: one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from mesocosm.evaluation.report import items, reliability
from mesocosm.evaluation.report.figures import Figure, all_figures
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import (
    ReportTable,
    by_horizon,
    by_length,
    effort,
    errors,
    failed,
    failures,
    families,
    grouped,
    half_lengths,
    horizons_of,
    lengths_of,
    pairs,
    repeated,
    robustness,
    strategies,
    summary,
)
from mesocosm.evaluation.report.typeset import latex, pdf
from mesocosm.evaluation.table_files import write_files

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'"
"""Content security policy of our pages: nothing may be loaded."""
STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #f85149; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
p.note { margin: .2rem 0 .6rem; opacity: .8; font-size: .9rem; max-width: 60rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line);
vertical-align: top; } th { white-space: nowrap; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; font-size: .95rem; }
svg { width: 100%; height: auto; display: block; }
code { background: var(--soft); padding: 0 .25em; border-radius: 3px; }
"""


_LISTS = ("failed", "errors", "difficulties")
"""Tables to look things up in: these are no tables of a paper."""


def document(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def write_report(
    samples: Sequence[Sample],
    folder: Path,
    title: str = "Evaluation",
    links: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the page, the figures (SVG, PNG) and the tables (CSV, Markdown); what is there is replaced.

    ``links`` are pages of episodes, by the folders of these.
    """
    tables, figures = all_tables(samples, links), all_figures(samples)
    markdown = f"# {title}\n\n" + "\n".join(table.markdown() for table in tables)
    written = {
        "index.html": document(title, _body(title, samples, tables, figures)).encode(),
        "report.md": markdown.encode(),
        "samples.csv": _samples(samples),
    }
    for table in tables:
        written[f"{table.name}.csv"] = table.csv()
        if table.name not in _LISTS:
            written |= {f"table-{table.name}.tex": latex(table), f"table-{table.name}.pdf": pdf(table)}
    for figure in figures:
        written |= {f"{figure.name}.{kind}": figure.render(kind) for kind in ("svg", "png", "pdf")}
    return write_files(folder, written)


def _samples(samples: Sequence[Sample]) -> bytes:
    """Every sample, one line each."""
    head = list(Sample.model_fields)
    rows = [["" if value is None else str(value) for value in one.model_dump().values()] for one in samples]
    return ReportTable("samples", "", "", head, rows).csv()


def _body(
    title: str, samples: Sequence[Sample], tables: Sequence[ReportTable], figures: Sequence[Figure]
) -> str:
    errored = sum(sample.verdict == "errored" for sample in samples)
    cancelled = sum(sample.verdict == "cancelled" for sample in samples)
    note = f"{len(samples):,} samples, {errored:,} of them errored, {cancelled:,} cancelled."
    drawn = "".join(
        f"<figure><figcaption>{escape(one.title)}</figcaption>{one.inline()}</figure>" for one in figures
    )
    shown = "".join(map(table_html, tables))
    return f'<h1>{escape(title)}</h1><p class="note">{note}</p><div class="figures">{drawn}</div>{shown}'


def table_html(table: ReportTable) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_cell(cell, table)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = "".join(
        f"<code>{escape(part)}</code>" if at % 2 else escape(part)
        for at, part in enumerate(table.note.split("`"))
    )
    return (
        f'<h2 id="{table.name}">{escape(table.title)}</h2><p class="note">{note}</p>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cell(text: str, table: ReportTable) -> str:
    link = table.links.get(text)
    return f'<a href="{escape(link)}">{escape(text)}</a>' if link else escape(text)


def all_tables(samples: Sequence[Sample], links: Mapping[str, str] | None = None) -> list[ReportTable]:
    """Every table that these samples can fill; ``links`` are pages of episodes, by their folders."""
    own = [sample for sample in samples if not sample.baseline]
    tables = [summary(samples)]
    if lengths_of(samples):
        tables.append(by_length(samples))
    if len({sample.who for sample in own}) > 1:
        tables.append(pairs(samples))
    if (halves := half_lengths(samples)).rows:
        tables.append(halves)
    tables.append(effort(samples))
    if len({sample.plan for sample in own}) > 1:
        tables.append(strategies(samples))
    if any(sample.disturb for sample in samples):
        tables.append(robustness(samples))
    if any(len(group) > 1 for group in grouped(samples, lambda one: (one.who, one.instance)).values()):
        tables.append(repeated(samples))
    if reliability.applies(samples):
        tables.append(reliability.reliability(samples))
    if horizons_of(samples):
        tables.append(by_horizon(samples))
    tables += [failures(samples), families(samples)]
    if items.shares_of(samples):
        tables.append(items.headroom(samples))
    tables += filter(None, (items.abilities(samples), items.difficulties(samples)))
    if any(sample.verdict == "failed" for sample in samples):
        tables.append(failed(samples, links or {}))
    if any(sample.verdict == "errored" for sample in samples):
        tables.append(errors(samples))
    return tables
