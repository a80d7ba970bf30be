"""Sensors of `machine_operating`: what they read, what of that is an anomaly, and a solver that reads."""

from __future__ import annotations

import datetime as dt
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from mesocosm.kits.paging import folder_texts, found, query_rows, sheet_rows
from mesocosm.services.calling import Tools
from mesocosm.services.columns import Columns

KINDS = {
    "temperature": ("°C", 20, 90), "vibration": ("mm/s", 1, 12), "pressure": ("bar", 2, 16),
    "current": ("A", 5, 60),
    "speed": ("rpm", 300, 2900), "flow": ("l/min", 10, 180), "voltage": ("V", 360, 440),
    "torque": ("Nm", 15, 240),
    "humidity": ("%", 20, 75), "level": ("%", 10, 95),
}  # fmt: skip
"""Sensor types: unit, and where bounds may lie."""
_SPUN = ("speed", "torque", "vibration", "current", "voltage", "temperature")
_FED = ("humidity", "level", "flow", "pressure", "temperature", "current", "voltage")
_ANY = tuple(KINDS)
MACHINES = {
    "Extruder": (*_SPUN, "pressure"), "CNC mill": (*_SPUN, "flow"), "Lathe": (*_SPUN, "flow"),
    "Centrifuge": (*_SPUN, "level"), "Mixer": (*_SPUN, "level", "humidity"), "Conveyor": _SPUN,
    "Robot cell": (*_SPUN, "pressure"), "Compressor": (*_SPUN, "pressure", "flow", "humidity"),
    "Hydraulic press": ("pressure", "flow", "level", "temperature", "current", "voltage", "vibration"),
    "Pump station": (*_SPUN, "pressure", "flow", "level"), "Chiller": _FED, "Dryer": (*_FED, "speed"),
    "Boiler": ("pressure", "flow", "level", "temperature"), "Climate chamber": _FED,
    "Spray booth": (*_FED, "speed"), "Packing line": (*_SPUN, "pressure", "humidity"),
    "Paper machine": _ANY, "Coating line": _ANY,
}  # fmt: skip
"""Kinds of machines, with the sensors that each has."""
Cents = npt.NDArray[np.int64]
_CENT, _TENTH = 100, 10
_FULL = {"%": 100 * _CENT}
"""The most that can be read in a unit, where there is such a bound, in hundredths."""
_SLOW, _FAST = (5_400, 14_400), (1_500, 3_600)
"""Seconds in which a reading comes back to where it was: two motions, which add up."""
_PART = 2**16
"""Parts of the range between the bounds, with which motions are computed."""
_FEW = 8
"""Up to so many machines, sensors are read every ten minutes: the smallest worlds have no room for more."""
_CLOSE = 7
"""Each so many-th reading is close to a bound, wherever the sensor is in its motion."""
_FIRST, _THEN = 8, 3
"""So many machines have a reading right on a bound, or right beyond it; of the others each third has."""


def types_of(total_sensors: str) -> list[str]:
    """The sensor types that may occur: a comma list names them, a number says how many a machine has."""
    names = [name.strip() for name in str(total_sensors).split(",")]
    if names[0].isdigit():
        names = list(KINDS)
    if unknown := [name for name in names if name not in KINDS]:
        raise ValueError(f"no sensor type {unknown[0]!r}; there are {', '.join(KINDS)}")
    return names


def _ticks(machine: Any) -> tuple[list[dt.datetime], list[dt.datetime]]:
    """Return the sensors' times, every ``interval_minutes`` for ``hours``: in the window, and around it."""
    interval = machine.lookup("interval_minutes") or (10 if machine.lookup("total_machines") <= _FEW else 5)
    given = machine.lookup("hours"), interval
    return _moments(machine.lookup("me")["opens"], machine.truth.now, *given)


@lru_cache(maxsize=4)
def _moments(
    day: dt.datetime, now: dt.datetime, hours: float, interval: float
) -> tuple[list[dt.datetime], list[dt.datetime]]:
    step, whole, closes = (
        dt.timedelta(minutes=interval),
        dt.timedelta(hours=hours),
        day + dt.timedelta(hours=1),
    )
    if step <= dt.timedelta(0) or whole < dt.timedelta(hours=5):
        raise ValueError("interval_minutes must be 0 or more, and hours 5 or more")
    last = day + (now - day) // step * step
    moments = [last - number * step for number in range(whole // step + 1)][::-1]
    around = [one.astimezone(dt.UTC) for one in moments if not day <= one <= closes]
    return [one for one in moments if day <= one <= closes], around


def draw_since(machine: Any, rng: Random) -> dt.datetime:
    """A reading's time in the first half of the window, but not its beginning."""
    inside, _ = _ticks(machine)
    return inside[rng.randint(1, max(1, len(inside) // 2))]


def draw_until(machine: Any, rng: Random) -> dt.datetime:
    """A later one, but not the window's end where there is another."""
    inside, _ = _ticks(machine)
    first = inside.index(machine["since"])
    return inside[min(rng.randint(first + 1, max(first + 1, len(inside) - 2)), len(inside) - 1)]


def types_of_machine(machine: Any) -> tuple[list[str], int]:
    """The sensor types that a machine may have, and how many of them it has."""
    total = str(machine.lookup("total_sensors"))
    names = types_of(total)
    return names, min(int(total), len(names)) if total.isdigit() else len(names)


def draw_title(machine: Any, rng: Random) -> str:
    """Draw a machine that has such sensors, or as many of them as possible."""
    types = {sensor["type"] for sensor in machine["sensors"]}
    fitting = {title: len(types.intersection(kinds)) for title, kinds in MACHINES.items()}
    best = [title for title, number in fitting.items() if number == max(fitting.values())]
    return rng.choice(best)


def draw_sensors(machine: Any, rng: Random) -> list[dict[str, Any]]:
    """The sensors of a machine with their bounds and what they read in the window."""
    names, count = types_of_machine(machine)
    chosen = sorted(rng.sample(names, count), key=lambda _: rng.random())
    return [_sensor(machine, name, place, rng) for place, name in enumerate(chosen)]


def _sensor(machine: Any, name: str, place: int, rng: Random) -> dict[str, Any]:
    unit, least, most = KINDS[name]
    third = (most - least) * _TENTH // 3
    low, high = least * _TENTH + rng.randint(0, third), most * _TENTH - rng.randint(0, third)
    shift = max(2, (high - low) // 8)
    sensor = {"type": name, "unit": unit, "low": low / _TENTH, "high": high / _TENTH}
    # No unit has negative values, nor more of a hundred than that: bounds leave room for what is beyond them.
    new_low = max(1, low + rng.choice((-1, 1)) * rng.randint(1, shift))
    new_high = high + rng.choice((-1, 1)) * rng.randint(1, shift)
    if unit in _FULL:
        new_high = min(new_high, _FULL[unit] // _TENTH - 1)
    sensor |= {"new_low": new_low / _TENTH, "new_high": new_high / _TENTH, "first": place == 0}
    sensor["motions"] = [(rng.randint(*span), rng.randrange(_SLOW[1])) for span in (_SLOW, _FAST)]
    inside, _ = _ticks(machine)
    sensor["readings"] = _readings(machine, sensor, inside, place, rng)
    if place == 0 and machine["case"] != "plain":
        _tell_edges(machine, sensor, inside, rng)
    return sensor


def _tell_edges(machine: Any, sensor: dict[str, Any], inside: list[dt.datetime], rng: Random) -> None:
    """Readings at the ends of what a note is about, and right beside them, are such that it matters."""
    first, last = inside.index(machine["since"]), inside.index(machine["until"])
    low, high = sorted(round(sensor[name] * _CENT) for name in ("high", "new_high"))
    served = machine["case"] == "serviced"
    places = (first - 1, first, *((last, last + 1) if served else ()))
    for place in (place for place in places if place < len(inside)):
        cents = high + rng.randint(1, _TENTH) if served else rng.randint(low + 1, high - 1)
        sensor["readings"][place] = cents / _CENT


def _readings(
    machine: Any, sensor: dict[str, Any], moments: list[dt.datetime], place: int, rng: Random
) -> list[float]:
    """One for each moment. Of a machine's last sensor one may be on a bound or a hundredth beyond it, for two
    of four such machines at an end of the window."""
    bounds = [bounds_at(machine, sensor, moment, heeded=rng.random() < 0.9) for moment in moments]
    low, high = (np.array([round(one[side] * _CENT) for one in bounds]) for side in (0, 1))
    found = _drawn(sensor, moments, low, high, machine.lookup("anomaly_rate"), rng)
    turn, few = machine.place, machine.place < _FIRST
    if place == types_of_machine(machine)[1] - 1 and (few or turn % _THEN == 0):
        turn = turn if few else turn // _THEN
        at = (0, len(moments) - 1)[turn % 2] if turn // 2 % 2 else rng.randrange(len(moments))
        found[at] = (low[at], high[at], low[at] - 1, high[at] + 1)[turn % 4]
    return _shown(found)


def _drawn(
    sensor: dict[str, Any], moments: list[dt.datetime], low: Cents, high: Cents, rate: float, rng: Random
) -> Cents:
    """Readings in hundredths, for the bounds of each: most go slowly to and fro between these, some are close
    to one or beyond it.

    How close or far beyond is drawn over all magnitudes. Nothing but whole numbers are computed with: these
    are the same on all machines.
    """
    dice = np.frombuffer(rng.randbytes(16 * len(low)), dtype="<u4").astype(np.int64).reshape(4, -1)
    usual = low + (high - low) * _motion(sensor, moments, dice[3]) // _PART
    # What is close to a bound, or beyond it, is near that one in its motion: readings do not jump across.
    out, side = dice[0] < round(rate * 2**32), 2 * usual < low + high
    room = np.where(side, low, _FULL.get(sensor["unit"], 2**40) - high)
    widest = np.where(out, np.minimum(np.maximum(8, (high - low) // 4), room), (high - low) // 3)
    magnitude = np.int64(1) << (dice[2] % _digits(widest))
    off = np.minimum(dice[3] % magnitude, widest - 1)
    beyond = np.where(side, low - 1 - off, high + 1 + off)
    close = np.where(side, low + off, high - off)
    found: Cents = np.where(out, beyond, np.where(dice[1] // 2 % _CLOSE == 0, close, usual))
    return found


def _motion(sensor: dict[str, Any], moments: list[dt.datetime], dice: Cents) -> Cents:
    """Draw a sensor's readings as fractions above the lower bound: slow waves with some noise."""
    seconds = np.array([round(one.timestamp()) for one in moments], dtype=np.int64)
    found = dice % (_PART // 16)
    for share, (period, ahead) in zip((11, 4), sensor["motions"], strict=True):
        at = (seconds + ahead) % period
        found += np.minimum(at, period - at) * 2 * _PART // period * share // 16
    moved: Cents = found
    return moved


def _digits(numbers: Cents) -> Cents:
    """Count the binary digits of numbers."""
    found: Cents = np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
    return found


def _shown(cents: Cents) -> list[float]:
    found: list[float] = (cents / _CENT).tolist()
    return found


def bounds_at(
    machine: Any, sensor: dict[str, Any], moment: dt.datetime, *, heeded: bool = True
) -> tuple[float, float]:
    """The bounds that hold for a sensor; with ``heeded`` false: for who takes its note the wrong way."""
    changes = (machine["case"] in ("recalibrated", "restored")) == heeded and machine["case"] != "plain"
    if sensor["first"] and changes and moment >= machine["since"]:
        return sensor["new_low"], sensor["new_high"]
    return sensor["low"], sensor["high"]


def readings_of(machine: Any) -> Columns:
    """All readings of the window."""
    inside, _ = _ticks(machine)
    return _rows(machine, inside, [sensor["readings"] for sensor in machine["sensors"]])


def _rows(machine: Any, moments: list[dt.datetime], readings: Sequence[Sequence[float]]) -> Columns:
    """The rows of a machine: for each of its sensors a reading at each moment."""
    types = [sensor["type"] for sensor in machine["sensors"] for _ in moments]
    return Columns(
        {
            "timestamp": moments * len(readings),
            "machine_id": [machine["code"]] * len(types),
            "sensor_type": types,
            "reading": array("d", [reading for those in readings for reading in those]),
        }
    )


def others_of(machine: Any) -> Columns:
    """All readings of other hours."""
    _, outside = _ticks(machine)
    rng = Random(f"{machine['noise']}")
    readings = []
    for sensor in machine["sensors"]:
        low, high = (np.full(len(outside), round(sensor[name] * _CENT)) for name in ("low", "high"))
        found = _drawn(sensor, outside, low, high, machine.lookup("anomaly_rate"), rng)
        readings.append(_shown(found))
    return _rows(machine, outside, readings)


def anomalies_of(machine: Any) -> list[dict[str, Any]]:
    """Its readings of the window that are out of bounds, with these."""
    out, (inside, _) = [], _ticks(machine)
    for sensor in machine["sensors"]:
        rests = machine["case"] == "serviced" and sensor["first"]
        for moment, reading in zip(inside, sensor["readings"], strict=True):
            low, high = bounds_at(machine, sensor, moment)
            if not low <= reading <= high and not (rests and machine["since"] <= moment <= machine["until"]):
                row = {"timestamp": moment, "machine_id": machine["code"], "sensor_type": sensor["type"]}
                out.append({**row, "reading": reading, "normal_range": f"{low:.1f} - {high:.1f}"})
    return out


def window_opens(now: dt.datetime) -> dt.datetime:
    """Half past eleven of a day."""
    return dt.datetime.combine(now.date(), dt.time(11, 30), now.tzinfo)


# -- solving ----------------------------------------------------------------------------------------------

_BOOK = "machine_operating_parameters.xlsx"
_TAKEN_BACK = re.compile(
    r"void|withdrawn|Forget|Ignore|Strike|take back|no new bounds|mix-up|meant for another", re.IGNORECASE
)
_AFTER_ALL = re.compile(
    r"(?:holds?|in force|valid|Please do heed|Do go by|has had its new limits|has its new limits)\b"
    r".* after all"
)
_NOT_IN_FORCE = re.compile(
    r"would|Should|Could|recommends|proposes|From tomorrow|will be|not decided|have not agreed"
)
_RESTING = re.compile(r"out of service|not in service|for repair")
_RANGE = re.compile(r"(\d+\.\d) (?:to|and) (\d+\.\d)")
_RANGE_APART = re.compile(r"(?:at least|minimum) (\d+\.\d) and (?:at most|maximum) (\d+\.\d)")
_CLOCK = re.compile(r"\b\d\d:\d\d\b")


def _notes(tools: Tools) -> Iterator[tuple[str, str, str]]:
    """Of each note that names a machine: its code, the sentence that does, and that with the next one."""
    for note in folder_texts(tools, "notes"):
        text = note.partition("\n\n")[2]  # the first line says who wrote it, and when
        sentences = re.split(r"(?<=[.?!]) (?=[A-Z0-9])", " ".join(text.split()))
        for number, sentence in enumerate(sentences):
            if code := re.search(r"MC-\d{6}", sentence):
                yield code[0], sentence, " ".join(sentences[number : number + 2])


class _Changes:
    """Changes by the notes on sensors."""

    def __init__(self, tools: Tools, day: dt.date, zone: ZoneInfo) -> None:
        self.bounds: dict[tuple[str, str], tuple[dt.datetime, float, float]] = {}
        self.resting: dict[tuple[str, str], list[dt.datetime]] = {}
        void, restored = set(), set()
        for code, sentence, text in _notes(tools):
            sensor = code, _type_in(sentence) or _type_in(text)
            moments = [
                dt.datetime.combine(day, dt.time.fromisoformat(clock), zone) for clock in _CLOCK.findall(text)
            ]
            limits = _RANGE_APART.search(text) or _RANGE.search(text)
            if _RESTING.search(sentence):
                self.resting[sensor] = moments[:2]
            elif _AFTER_ALL.search(sentence):
                restored.add(code)
            elif _TAKEN_BACK.search(sentence):
                void.add(code)
            elif limits and not _NOT_IN_FORCE.search(sentence):
                self.bounds[sensor] = moments[0], float(limits[1]), float(limits[2])
        self.bounds = {key: change for key, change in self.bounds.items() if key[0] not in void - restored}


def _type_in(text: str) -> str:
    """The sensor type that a text names first; none, an empty text."""
    found_at = {name: place for name in KINDS if (place := text.lower().find(name)) >= 0}
    return min(found_at, key=lambda name: found_at[name], default="")


def solve(tools: Tools, prompt: str) -> None:
    """Read the workbook, the notes and the hour, and report."""
    plant, zone = found(r"machine of the (\w+) plant", prompt), ZoneInfo(found(r"time zone (\S+?)\)", prompt))
    day = found(r"their times are of (\w+ \d+, \d{4}),", prompt)
    opens = dt.datetime.strptime(f"{day} 11:30", "%B %d, %Y %H:%M").replace(tzinfo=zone)
    machines = {row[0] for row in sheet_rows(tools, _BOOK, "Machine Summary")[1:] if row[2] == plant}
    table = sheet_rows(tools, _BOOK, "Operating Parameters")[1:]
    bounds = {(row[0], row[1]): (float(row[3]), float(row[4])) for row in table}
    changes = _Changes(tools, opens.date(), zone)
    lines = ["timestamp,machine_id,sensor_type,reading,normal_range"]
    for row in _hour(tools, opens):
        moment = dt.datetime.fromisoformat(row["timestamp"].replace(" UTC", "+00:00"))
        sensor = row["machine_id"], row["sensor_type"]
        low, high = bounds[sensor]
        since, *new = changes.bounds.get(sensor, (None,))
        low, high = new if since and moment >= since else (low, high)
        begun, ended = changes.resting.get(sensor, (None, None))
        if row["machine_id"] not in machines or (begun and ended and begun <= moment <= ended):
            continue
        if not low <= row["reading"] <= high:
            lines.append(
                ",".join([row["timestamp"], *sensor, str(row["reading"]), f"{low:.1f} - {high:.1f}"])
            )
    tools.call("filesystem", "write_file", path="anomaly_report.csv", content="\n".join(lines) + "\n")
    bucket = "iot_anomaly_reports"
    tools.call("google_cloud", "storage_create_bucket", bucket_name=bucket)
    tools.call(
        "google_cloud",
        "storage_upload_file",
        bucket_name=bucket,
        source_file_path="anomaly_report.csv",
        destination_blob_name="anomaly_report.csv",
    )
    tools.call("claim_done", "claim_done")


def _hour(tools: Tools, opens: dt.datetime) -> Iterator[dict[str, Any]]:
    """The readings from a moment to an hour later."""
    first, last = (one.astimezone(dt.UTC) for one in (opens, opens + dt.timedelta(hours=1)))
    query = (
        "SELECT timestamp, machine_id, sensor_type, reading FROM machine_operating.live_sensor"
        f" WHERE timestamp BETWEEN TIMESTAMP '{first:%Y-%m-%d %H:%M:%S}+00'"
        f" AND TIMESTAMP '{last:%Y-%m-%d %H:%M:%S}+00'"
        " ORDER BY 1, 2, 3"
    )
    return query_rows(tools, query)
