"""Formatting of cells: fonts, fills, borders, alignment, protection and conditional formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from openpyxl.formatting import rule as rules
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Border, Font, PatternFill, Protection, Side
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.excel.store.cells import Area, check_value
from mesocosm.servers.excel.store.formulas import check_syntax
from mesocosm.servers.excel.store.reference_shifts import to_area
from mesocosm.services.schema import as_json

BORDERS = (
    "thin",
    "medium",
    "thick",
    "double",
    "dashed",
    "dotted",
    "hair",
    "dashDot",
    "dashDotDot",
    "mediumDashed",
    "mediumDashDot",
    "mediumDashDotDot",
    "slantDashDot",
)
ALIGNMENTS = ("left", "center", "right", "justify", "general", "fill", "centerContinuous", "distributed")
OPERATORS = (
    "equal",
    "notEqual",
    "greaterThan",
    "greaterThanOrEqual",
    "lessThan",
    "lessThanOrEqual",
    "between",
    "notBetween",
)
_SIGNS = dict(zip(("=", "!=", ">", ">=", "<", "<="), OPERATORS, strict=False)) | {"==": "equal"}
POINTS = ("min", "max", "num", "percent", "percentile", "formula")
ICON_SETS = {
    "3Arrows": 3,
    "3ArrowsGray": 3,
    "3Flags": 3,
    "3TrafficLights1": 3,
    "3TrafficLights2": 3,
    "3Signs": 3,
    "3Symbols": 3,
    "3Symbols2": 3,
    "4Arrows": 4,
    "4ArrowsGray": 4,
    "4RedToBlack": 4,
    "4Rating": 4,
    "4TrafficLights": 4,
    "5Arrows": 5,
    "5ArrowsGray": 5,
    "5Rating": 5,
    "5Quarters": 5,
}

# The stubs of openpyxl leave the arguments of these untyped.
_ColorScale: Callable[..., Rule] = rules.ColorScaleRule
_DataBar: Callable[..., Rule] = rules.DataBarRule
_IconSet: Callable[..., Rule] = rules.IconSetRule
_Formula: Callable[..., Rule] = rules.FormulaRule
_CellIs: Callable[..., Rule] = rules.CellIsRule

_COLOR = re.compile(r"#?([0-9A-Fa-f]{2})?([0-9A-Fa-f]{6})")


@dataclass(frozen=True)
class Look:
    """Changes of formatting. False or ``None`` leaves an attribute unchanged."""

    bold: bool = False
    italic: bool = False
    underline: bool = False
    font_size: int | None = None
    font_color: str | None = None
    bg_color: str | None = None
    border_style: str | None = None
    border_color: str | None = None
    number_format: str | None = None
    alignment: str | None = None
    wrap_text: bool = False
    protection: Mapping[str, Any] | None = None


def apply_look(sheet: Worksheet, area: Area, look: Look) -> None:
    """Change how the cells of an area look."""
    font = _font_changes(look)
    fill = _fill(look.bg_color) if look.bg_color is not None else None
    border = _border(look) if look.border_style is not None or look.border_color is not None else None
    align = _alignment_changes(look)
    protection = _protection(look.protection) if look.protection is not None else None
    number_format = _number_format(look.number_format) if look.number_format is not None else None
    for row, column in area.cells():
        cell: Any = sheet.cell(row, column)
        if font:
            cell.font = _with(cell.font, font)
        if fill:
            cell.fill = fill
        if border:
            cell.border = border
        if align:
            cell.alignment = _with(cell.alignment, align)
        if protection:
            cell.protection = protection
        if number_format:
            cell.number_format = number_format


def merge(sheet: Worksheet, area: Area) -> None:
    """Make one cell of an area; the values of all but its first cell are lost, as in Excel."""
    if area.size == 1:
        raise Invalid(f"{area} is a single cell; at least two cells can be merged.")
    for other in sheet.merged_cells.sorted():
        if area.meets(to_area(str(other))):
            raise Conflict(f"Range '{area}' overlaps the merged range {other}; unmerge that first.")
    for table in sheet.tables.values():
        if area.meets(to_area(table.ref)):
            raise Conflict(
                f"Range '{area}' overlaps the table '{table.displayName}', which cannot be merged."
            )
    sheet.merge_cells(str(area))


def color(text: str, what: str) -> str:
    """A colour as eight hexadecimal digits, opaque unless it says otherwise."""
    found = _COLOR.fullmatch(text.strip())
    if not found:
        raise Invalid(f"Invalid {what}: {text!r}; expected six hexadecimal digits such as FF0000.")
    return (found[1] or "FF").upper() + found[2].upper()


def _with(style: Any, changes: Mapping[str, Any]) -> Any:
    changed = copy(style)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _font_changes(look: Look) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if look.bold:
        changes["bold"] = True
    if look.italic:
        changes["italic"] = True
    if look.underline:
        changes["underline"] = "single"
    if look.font_size is not None:
        if not 1 <= look.font_size <= 409:
            raise Invalid(f"font_size must be between 1 and 409, got {look.font_size}.")
        changes["size"] = look.font_size
    if look.font_color is not None:
        changes["color"] = color(look.font_color, "font color")
    return changes


def _fill(text: str) -> PatternFill:
    value = color(text, "background color")
    return PatternFill(start_color=value, end_color=value, fill_type="solid")


def _border(look: Look) -> Border:
    style: Any = look.border_style or "thin"
    _check_choice(style, BORDERS, "border_style")
    side = Side(style=style, color=color(look.border_color or "000000", "border color"))
    return Border(left=side, right=side, top=side, bottom=side)


def _alignment_changes(look: Look) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if look.alignment is not None:
        _check_choice(look.alignment, ALIGNMENTS, "alignment")
        changes["horizontal"] = look.alignment
    if look.wrap_text:
        changes["wrap_text"] = True
    return changes


def _protection(settings: Mapping[str, Any]) -> Protection:
    for name, value in settings.items():
        if name not in ("locked", "hidden") or not isinstance(value, bool):
            raise Invalid("protection may have the settings locked and hidden, each true or false.")
    return Protection(**settings)


def _number_format(text: str) -> str:
    if not 1 <= len(text) <= 255:
        raise Invalid("number_format must have 1 to 255 characters, such as 0.00 or yyyy-mm-dd.")
    return str(check_value(text, "number_format"))


def _check_choice(value: Any, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        raise Invalid(f"{what} must be one of {', '.join(choices)}, got {as_json(value)}.")


# -- conditional formats --------------------------------------------------------------------------------


def conditional_rule(settings: Mapping[str, Any]) -> Rule:
    """The rule that ``{type, params}`` describes."""
    kind, params = settings.get("type"), settings.get("params", {})
    makers = {
        "color_scale": _color_scale,
        "data_bar": _data_bar,
        "icon_set": _icon_set,
        "formula": _formula_rule,
        "cell_is": _cell_is,
    }
    if not isinstance(kind, str) or kind not in makers:
        raise Invalid(f"conditional_format needs a type: one of {', '.join(makers)}.")
    if not isinstance(params, dict):
        raise Invalid("conditional_format.params must be an object.")
    return makers[kind](params)


def _only(params: Mapping[str, Any], *names: str) -> None:
    for name in params:
        if name not in names:
            raise Invalid(f"Unknown conditional format parameter {name!r}; known are {', '.join(names)}.")


def _point(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One end of a scale: its type and value."""
    kind, value = params.get(f"{name}_type"), params.get(f"{name}_value")
    if kind is not None:
        _check_choice(kind, POINTS, f"{name}_type")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        raise Invalid(f"{name}_value must be a number or a formula.")
    if kind in ("num", "percent", "percentile") and not isinstance(value, int | float):
        raise Invalid(f"{name}_value must be a number for the type {kind}.")
    if isinstance(value, str):
        check_value(value, f"{name}_value")
    return {f"{name}_type": kind, f"{name}_value": value}


def _color_scale(params: Mapping[str, Any]) -> Rule:
    ends = ("start", "mid", "end")
    _only(params, *(f"{end}_{part}" for end in ends for part in ("type", "value", "color")))
    arguments: dict[str, Any] = {}
    for end in ends:
        given = params.get(f"{end}_color")
        if given is None:
            if end == "mid":
                continue
            raise Invalid(f"a color_scale needs {end}_color.")
        arguments |= _point(params, end) | {f"{end}_color": color(str(given), f"{end}_color")}
        arguments[f"{end}_type"] = arguments[f"{end}_type"] or {"start": "min", "end": "max"}.get(end)
        if arguments[f"{end}_type"] is None:
            arguments |= {"mid_type": "percentile", "mid_value": 50}
    return _ColorScale(**arguments)


def _data_bar(params: Mapping[str, Any]) -> Rule:
    _only(params, "start_type", "start_value", "end_type", "end_value", "color", "showValue")
    if params.get("color") is None:
        raise Invalid("a data_bar needs a color.")
    ends = _point(params, "start") | _point(params, "end")
    ends["start_type"], ends["end_type"] = ends["start_type"] or "min", ends["end_type"] or "max"
    return _DataBar(**ends, color=color(str(params["color"]), "color"), showValue=_flag(params, "showValue"))


def _icon_set(params: Mapping[str, Any]) -> Rule:
    _only(params, "icon_style", "type", "values", "showValue", "reverse")
    style, kind, values = params.get("icon_style"), params.get("type", "percent"), params.get("values")
    _check_choice(style, tuple(ICON_SETS), "icon_style")
    _check_choice(kind, ("num", "percent", "percentile"), "type")
    count = ICON_SETS[str(style)]
    numbers = isinstance(values, list) and all(type(value) in (int, float) for value in values)
    if not numbers or not isinstance(values, list) or len(values) != count:
        raise Invalid(f"icon_set {style} needs values: a list of {count} numbers.")
    reverse = _flag(params, "reverse")
    return _IconSet(style, kind, values, showValue=_flag(params, "showValue"), reverse=reverse)


def _formula_rule(params: Mapping[str, Any]) -> Rule:
    _only(params, "formula", "fill", "font", "border", "stopIfTrue")
    return _Formula(formula=_formulas(params, 1), **_appearance(params))


def _cell_is(params: Mapping[str, Any]) -> Rule:
    _only(params, "operator", "formula", "fill", "font", "border", "stopIfTrue")
    given = str(params.get("operator"))
    operator = _SIGNS.get(given, given)
    _check_choice(operator, OPERATORS, "operator")
    count = 2 if operator in ("between", "notBetween") else 1
    return _CellIs(operator=operator, formula=_formulas(params, count), **_appearance(params))


def _formulas(params: Mapping[str, Any], count: int) -> list[str]:
    given = params.get("formula")
    values = given if isinstance(given, list) else [given]
    formulas = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            raise Invalid('formula must be a list of formulas or numbers, such as ["100"] or ["A1>B1"].')
        text = str(value).removeprefix("=")
        check_syntax("=" + text, "formula")
        check_value(text, "formula")
        formulas.append(text)
    if len(formulas) != count:
        raise Invalid(f"formula must have {count} item(s) for this rule, got {len(formulas)}.")
    return formulas


def _appearance(params: Mapping[str, Any]) -> dict[str, Any]:
    fill, font, border = params.get("fill"), params.get("font"), params.get("border")
    result: dict[str, Any] = {"stopIfTrue": _flag(params, "stopIfTrue")}
    if fill is not None:
        text = fill.get("fgColor", fill.get("bgColor", "FFC7CE")) if isinstance(fill, dict) else fill
        value = color(str(text), "fill color")
        result["fill"] = PatternFill(start_color=value, end_color=value, fill_type="solid")
    if font is not None:
        if not isinstance(font, dict):
            raise Invalid("font must be an object with bold, italic or color.")
        _only(font, "bold", "italic", "color")
        flags: dict[str, Any] = {name: _flag(font, name) for name in ("bold", "italic") if name in font}
        if font.get("color") is not None:
            flags["color"] = color(str(font["color"]), "font color")
        result["font"] = Font(**flags)
    if border is not None:
        if not isinstance(border, dict):
            raise Invalid("border must be an object with style and color.")
        _only(border, "style", "color")
        look = Look(border_style=border.get("style", "thin"), border_color=border.get("color"))
        result["border"] = _border(look)
    return result


def _flag(params: Mapping[str, Any], name: str) -> bool | None:
    value = params.get(name)
    if value is not None and not isinstance(value, bool):
        raise Invalid(f"{name} must be true or false, got {as_json(value)}.")
    return value
