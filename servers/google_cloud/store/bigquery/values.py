"""Values: as clients write them (JSON, CSV), as SQLite keeps them, and as answers show them."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.servers.google_cloud.store.part import quoted
from mesocosm.services.queries.tables import Value


class Unfit(Invalid):
    """A value that a field cannot hold; the text says why."""


# -- what comes in ------------------------------------------------------------------------------------------


def stored_row(fields: Sequence[Field], row: Mapping[str, Any]) -> tuple[Value, ...]:
    """An object of values as a row of SQLite. Raises ``Unfit``."""
    names = {name.lower(): name for name in row}
    for field in fields:
        names.pop(field["name"].lower(), None)
    if names:
        raise Unfit(f"no such field: {next(iter(names.values()))}.")
    given = {name.lower(): value for name, value in row.items()}
    return tuple(stored_value(field, given.get(field["name"].lower())) for field in fields)


def stored_value(field: Field, value: Any) -> Value:
    """A value of JSON as SQLite keeps it. Raises ``Unfit``."""
    if value is None and field["mode"] != "REPEATED":
        if field["mode"] == "REQUIRED":
            raise Unfit(f"Missing required field: {field['name']}.")
        return None
    if field["mode"] == "REPEATED" or field["type"] == "STRUCT":
        return orjson.dumps(_inner(field, value)).decode()
    return _plain(field, value)


def _inner(field: Field, value: Any) -> Any:
    """A value inside of lists and structs, which are kept as JSON."""
    if field["mode"] == "REPEATED":
        if value is None:
            return []
        if not isinstance(value, list):
            raise Unfit(f"Field {field['name']} is REPEATED: an array is expected.")
        return [_inner({**field, "mode": "NULLABLE"}, one) for one in value]
    if value is None:
        return None
    if field["type"] == "STRUCT":
        if not isinstance(value, Mapping):
            raise Unfit(f"Field {field['name']} is a RECORD: an object is expected.")
        known = {one["name"].lower() for one in field["fields"]}
        for name in value:
            if name.lower() not in known:
                raise Unfit(f"no such field: {field['name']}.{name}.")
        given = {name.lower(): one for name, one in value.items()}
        return {one["name"]: _inner(one, given.get(one["name"].lower())) for one in field["fields"]}
    plain = _plain(field, value)
    if field["type"] == "BOOL":
        return bool(plain)
    if isinstance(plain, bytes):
        return "".join(f"\\x{byte:02X}" for byte in plain)
    return plain


def _plain(field: Field, value: Any) -> Value:
    if field["type"] == "JSON":
        return _json(value)
    if isinstance(value, Mapping | list):
        raise Unfit(f"Field {field['name']} of type {field['type']} holds no array or object.")
    if type(value) is int and field["type"] == "INT64" and -(2**63) <= value < 2**63:
        return value  # most of what worlds are filled with
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    return from_text(field, text)


def from_text(field: Field, text: str) -> Value:
    """A text, as in a CSV file, as SQLite keeps a value of the field. Raises ``Unfit``."""
    try:
        value = _READERS[field["type"]](text)
    except (ValueError, InvalidOperation, OverflowError, binascii.Error):
        raise Unfit(f"Could not parse {quoted(text)} as {field['type']} for field {field['name']}") from None
    if "precision" in field and isinstance(value, str):
        whole = field["precision"] - min(field.get("scale", 0), field["precision"])
        # What is rounded to the scale may have a digit more.
        if abs(Decimal(value)) >= Decimal(10) ** whole - Decimal("0.5").scaleb(-field.get("scale", 0)):
            kind = f"{field['type']}({field['precision']}, {field.get('scale', 0)})"
            raise Unfit(f"Field {field['name']}: {quoted(text)} does not fit into {kind}")
    if isinstance(value, str) and len(value) > field.get("maxLength", 2**31):
        raise Unfit(
            f"Field {field['name']}: STRING({field['maxLength']}) has maximum length {field['maxLength']}"
        )
    return value


def _json(value: Any) -> str:
    if isinstance(value, str):
        try:
            return orjson.dumps(orjson.loads(value)).decode()
        except orjson.JSONDecodeError:
            return orjson.dumps(value).decode()
    return orjson.dumps(value).decode()


def _integer(text: str) -> int:
    text = text.strip()
    if not re.fullmatch(r"[+-]?\d{1,19}(\.0*)?", text, re.ASCII):
        raise ValueError(text)
    number = int(text.partition(".")[0])
    if not -(2**63) <= number < 2**63:
        raise ValueError(text)
    return number


def _float(text: str) -> float:
    text = text.strip().lower().replace("+infinity", "inf").replace("infinity", "inf")
    if "_" in text:
        raise ValueError(text)
    return float(text)


def _decimal(scale: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        number = Decimal(text.strip())
        if not number.is_finite() or number.adjusted() >= 38 - scale or "_" in text:
            raise ValueError(text)
        return f"{number:.{scale}f}"

    return read


def _bool(text: str) -> int:
    word = text.strip().lower()
    if word in ("true", "t", "yes", "y", "1"):
        return 1
    if word in ("false", "f", "no", "n", "0"):
        return 0
    raise ValueError(text)


def _date(text: str) -> str:
    found = re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", text.strip(), re.ASCII)
    if found is None:
        raise ValueError(text)
    return date(*map(int, found.groups())).isoformat()


def _time(text: str) -> str:
    return str(time.fromisoformat(text.strip()).replace(tzinfo=None))


_EXACT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", re.ASCII)


def _moment(text: str) -> datetime:
    if _EXACT.fullmatch(text):
        return datetime.fromisoformat(text)
    text = re.sub(r"\s*(UTC|[Zz])$", "+00:00", text.strip())
    text = re.sub(r"\s+([+-]\d\d)", r"\1", text)
    found = re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(.*)", text, re.ASCII | re.DOTALL)
    if found is None:
        seconds = float(text)  # a number of seconds since 1970
        return datetime.fromtimestamp(seconds, UTC)
    year, month, day, rest = found.groups()
    rest = re.sub(r"^[T ]\s*(\d):", r"T0\1:", rest)
    rest = re.sub(r"([+-])(\d):?(\d\d)?$", r"\g<1>0\2:\3", rest).removesuffix(":")
    return datetime.fromisoformat(f"{year}-{int(month):02}-{int(day):02}{rest}")


def _datetime(text: str) -> str:
    moment = _moment(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(" ")


def _timestamp(text: str) -> str:
    moment = _moment(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(" ").removesuffix(":00")


_READERS: dict[str, Callable[[str], Value]] = {
    "INT64": _integer,
    "FLOAT64": _float,
    "NUMERIC": _decimal(9),
    "BIGNUMERIC": _decimal(18),
    "BOOL": _bool,
    "STRING": lambda text: text,
    "BYTES": lambda text: binascii.a2b_base64(text.encode(), strict_mode=True),
    "DATE": _date,
    "TIME": _time,
    "DATETIME": _datetime,
    "TIMESTAMP": _timestamp,
    "INTERVAL": lambda text: text,
    "JSON": _json,
}


# -- what goes out ------------------------------------------------------------------------------------------


def shown(field: Field, value: Any) -> Any:
    """A value of a result as an answer for agents shows it: data for JSON, written as the console does."""
    if field["mode"] == "REPEATED":
        return [shown({**field, "mode": "NULLABLE"}, one) for one in value or ()]
    if value is None:
        return None
    kind = field["type"]
    if isinstance(value, list):
        raise Invalid("Cannot construct array with element type ARRAY", code="invalidQuery")
    if kind == "STRUCT":
        parts = value if isinstance(value, tuple) else [value.get(one["name"]) for one in field["fields"]]
        return {one["name"]: shown(one, part) for one, part in zip(field["fields"], parts, strict=True)}
    if kind == "INT64" and not -(2**63) <= int(value) < 2**63:
        raise Invalid(f"int64 overflow: {value}", code="invalidQuery")
    if kind in ("DATE", "DATETIME", "TIMESTAMP") and isinstance(value, str):
        raise Invalid(f"{kind.capitalize()} value out of range: {value[:100]}", code="invalidQuery")
    if kind == "FLOAT64" and isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if kind == "JSON":
        return _json_value(value)
    return value if kind in ("BOOL", "STRING") else int(value) if kind == "INT64" else text_of(kind, value)


def _json_value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value  # such as a number that is too large


def text_of(kind: str, value: Any) -> str:
    """A value that is no list or struct as text."""
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return _decimal_text(value)
        case float():
            return _not_finite(value) if not math.isfinite(value) else _float_text(value)
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            text = value.replace(tzinfo=None).isoformat(" " if kind == "TIMESTAMP" else "T")
            return f"{text} UTC" if kind == "TIMESTAMP" else text
        case str() if kind == "INTERVAL":
            return _interval(value)
    return str(value)


def api_value(field: Field, value: Any, *, whole: bool) -> Any:
    """A value that ``shown`` made as the API writes it; ``whole``: instants as microseconds."""
    if field["mode"] == "REPEATED":
        one = {**field, "mode": "NULLABLE"}
        return [{"v": api_value(one, item, whole=whole)} for item in value or ()]
    if value is None:
        return None
    kind = field["type"]
    if kind == "STRUCT":
        return {"f": [{"v": api_value(one, value.get(one["name"]), whole=whole)} for one in field["fields"]]}
    if kind == "TIMESTAMP":
        moment = datetime.fromisoformat(str(value).replace(" UTC", "+00:00"))
        micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        return str(micros) if whole else f"{micros // 10**6}.{micros % 10**6:06d}"
    if kind == "JSON":
        return orjson.dumps(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    return _float_text(value) if isinstance(value, float) else str(value)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _float_text(value: float) -> str:
    return repr(value)


def _decimal_text(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_SPELLED = re.compile(
    r"(?:(?P<years>-?\d+) years? ?)?(?:(?P<months>-?\d+) months? ?)?(?:(?P<days>-?\d+) days? ?)?"
    r"(?:(?P<sign>-?)(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)(?:\.(?P<fraction>\d+))?)?",
    re.ASCII,
)


def _interval(value: str) -> str:
    """DuckDB's text of an interval as GoogleSQL writes it: years-months days hours:minutes:seconds."""
    found = _SPELLED.fullmatch(value)
    if found is None:
        return value
    parts = {
        name: int(found[name] or 0) for name in ("years", "months", "days", "hours", "minutes", "seconds")
    }
    months = parts["years"] * 12 + parts["months"]
    sign = "-" if months < 0 else ""
    fraction = (found["fraction"] or "").ljust(6, "0")
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    time = f"{found['sign'] or ''}{parts['hours']}:{parts['minutes']}:{parts['seconds']}"
    date = f"{sign}{abs(months) // 12}-{abs(months) % 12} {parts['days']}"
    return f"{date} {time}" + (f".{fraction}" if fraction else "")
