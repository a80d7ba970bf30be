"""Tables for papers: LaTeX (with the packages booktabs and graphicx), and PDF."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from mesocosm.families.figures import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mesocosm.evaluation.report.tables import ReportTable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Behind the end of a row it would begin a length.
    "[": "{[}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "…": r"\ldots{}",
}
_PAGE = 60
"""Rows of a page of a PDF; a table that is longer ends there, and says so."""
_WIDEST = 40
"""Characters of a cell of a PDF's table; what is longer is wrapped."""
_LETTER, _LINE = 0.078, 0.19
"""Inches of a letter and of a line."""


def latex(table: ReportTable) -> bytes:
    """A table environment: numbers to the right, rows of a group as they come, the note as its caption."""
    columns = "".join("l" if _is_text(table, at) else "r" for at in range(len(table.head)))
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{_tex(table.title)}. {_tex(table.note.replace('`', ''))}}}",
        rf"\label{{tab:{table.name}}}",
        # No wider than the text.
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(_tex, table.head)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_tex, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _tex(text: str) -> str:
    """Text as LaTeX writes it; a blank line would end a caption."""
    return "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def _is_text(table: ReportTable, column: int) -> bool:
    cells = [row[column] for row in table.rows]
    return not all(cell[:1].isdigit() or cell[:1] in "+-<$" for cell in cells if cell)


def pdf(table: ReportTable) -> bytes:
    """One page as large as the table is."""
    rows = [[textwrap.fill(cell, _WIDEST) for cell in row] for row in (table.head, *table.rows[:_PAGE])]
    if len(table.rows) > _PAGE:
        rows.append([f"{len(table.rows) - _PAGE} rows more", *[""] * (len(table.head) - 1)])
    widths = [max(max(map(len, row[at].split("\n"))) for row in rows) + 2 for at in range(len(table.head))]
    heights = [max(cell.count("\n") for cell in row) + 1 for row in rows]
    width, height = _LETTER * sum(widths) + 0.4, _LINE * (sum(heights) + 2) + 0.4

    def fill(figure: Figure) -> None:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.text(0.2, 0.2 + _LINE, table.title, weight="bold", size=10, va="center")
        y = 0.2 + 2 * _LINE
        for number, row in enumerate(rows):
            if number < 2:
                axes.plot([0.2, width - 0.2], [y, y], color="black", linewidth=0.9 - 0.4 * number)
            x = 0.2
            for at, cell in enumerate(row):
                right = not _is_text(table, at)
                edge = x + _LETTER * (widths[at] - 2) if right else x
                axes.text(
                    edge,
                    y + _LINE * heights[number] / 2,
                    cell,
                    size=8,
                    va="center",
                    ha="right" if right else "left",
                    weight="bold" if number == 0 else "normal",
                )
                x += _LETTER * widths[at]
            y += _LINE * heights[number]
        axes.plot([0.2, width - 0.2], [y, y], color="black", linewidth=0.9)

    return render(fill, "pdf", size=(width, height), layout=None, style={"pdf.fonttype": 42})
