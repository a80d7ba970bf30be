"""Rules as Python functions, and the vocabulary of their identifiers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from mesocosm.kits.prose.inflect import fix_articles


def _words(text: str) -> Sequence[str]:
    return tuple(dict.fromkeys(text.split()))


_VERBS = _words(
    """
    adjust align apply archive arrange assess assign balance blend bundle calibrate carry check
    clear close collect combine compare convert count cut deliver drain draw estimate evaluate
    extend fetch fill filter fold gather grade group handle hold index inspect join label level lift
    list load locate log map mark match measure merge mix mount move note open order pack patch pick
    place plan polish poll press print probe process prune pull pump push rank rate reach read
    rebuild record reduce refine release repair replace report rescale restore review rinse rotate
    round sample save scale scan seal search select send shift sign slice sort split stack stage
    start stop store sum survey sweep swap tag tally tap test time tint track trace trade trim tune
    turn unload update verify visit wash watch weigh wrap
    """
)
_NOUNS = _words(
    """
    account anchor angle apple archive arrow asset badge bakery balance ballot barrel basin basket
    battery bay beacon belt bench binder blanket block boat boiler bolt bond bonus book border
    bottle box bracket branch brick bridge bucket budget buffer bundle button cabin cable calendar
    camera canal candle canvas capsule card cargo carpet cart catalogue ceiling cellar chain channel
    chapter chart chimney circuit clinic clock coat coil column compass copper corner corridor
    cotton counter course crane crate credit crop curtain cycle cylinder deck delay deposit desk
    dial dock dome door draft drawer drum duty edge engine envelope export fabric factor farm fee
    fence ferry field filter flag fleet flour folder forest forge fork fountain frame freight fuel
    gallery garage garden gate gauge gear glacier glass grain grid guest gutter hall hammer handle
    harbour hatch hedge hinge hook hotel house import index ink invoice island jacket journal kettle
    keyboard kiln kitchen ladder lamp lane lantern lease ledger lens letter lever library lift lock
    locker lodge loop lorry margin market mast matrix meadow meter mill mirror module morning motor
    museum needle nest net notice nozzle oar oven pack paddle page paint palette panel parcel park
    path patrol pedal pencil permit pier pillar pilot pin pipe piston plank plant plate platform
    pocket pole pool port portal poster pot pouch pulley pump pupil quarry quota rack radar rafter
    rail ramp range rank raster receipt record reel refund region relay rental report reserve ribbon
    ridge ring river road rocket roof room rope rotor route rubber sack saddle sail salary sample
    sand scale scanner school screen screw season seat sector sensor shaft sheet shelf shell shield
    shift ship shop shutter siding signal silo sink siren sketch slate sleeve slope socket sofa
    spindle spiral sponge spool spring stage stair stall stamp station steam stock stove strap
    stream street string studio subsidy summit surface switch table tablet tank tap tariff taxi
    teapot tenant terrace theatre thread ticket tide tile timber timer token tool torch tower track
    tractor trail tram tray trench tripod truck tube tunnel turbine tyre umbrella valley valve van
    vault vessel village vineyard voucher wagon wall ward wardrobe warehouse washer wedge well wharf
    wheel window wing winter wire workshop yard zone
    """
)


@dataclass(frozen=True)
class Program:
    """A function that returns a value, with its definitions and imports."""

    body: str
    """Statements of the function."""
    definitions: str = ""
    """Definitions that have to stand above it in the module."""
    imports: tuple[str, ...] = ()
    """Modules of the standard library."""


@dataclass
class Identifiers:
    """Names for the things of one module, no two the same."""

    rng: random.Random
    used: set[str] = field(default_factory=set)

    def function(self) -> str:
        """Such as ``weigh_parcel_crate``."""
        return self._unused(_VERBS, _NOUNS, _NOUNS)

    def noun(self) -> str:
        """Such as ``tower_ledger``."""
        return self._unused(_NOUNS, _NOUNS)

    def sentence(self, form: str) -> str:
        """A sentence with words for ``{v}`` (a verb) and ``{n}`` (a noun, another one each time)."""
        random = self.rng.random
        parts = form.split("{n}")
        nouns: list[str] = []
        while len(nouns) < len(parts) - 1:
            noun = _NOUNS[int(random() * len(_NOUNS))]
            if noun not in nouns and noun not in form:
                nouns.append(noun)
        text = parts[0] + "".join([noun + part for noun, part in zip(nouns, parts[1:], strict=True)])
        return fix_articles(text.replace("{v}", _VERBS[int(random() * len(_VERBS))]))

    def _unused(self, *lists: Sequence[str]) -> str:
        random = self.rng.random
        while (name := "_".join([words[int(random() * len(words))] for words in lists])) in self.used:
            pass
        self.used.add(name)
        return name
