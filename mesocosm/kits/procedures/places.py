"""Names of places that do not exist: one word each, tens of thousands, and cheap to draw."""

from __future__ import annotations

import random

_FIRST = """
    Al Ash Bar Bel Berk Bram Brock Cal Car Chel Clif Cold Cor Cran Dal Den Dor Dun East El Fair Fal Far
    Fen Gal Glen Gran Hal Har Hart Hazel Hol Ing Kel Ken Kil King Lam Lang Lin Lock Mal Mar Mel Mil Mor
    Nor Oak Or Pem Pen Pres Ral Red Ren Ross Sal Sel Sher Sil Stan Sut Tal Thorn Tor Tre Ul Val Wal War
    Wen West Win Wood Yar
""".split()  # noqa: SIM905 - a table
_MIDDLE = ["", "", *"an ber den en er fer in ing ley men mer on or sing ter tin val ven ver wen".split()]  # noqa: SIM905
_LAST = """
    beck bridge brook burgh bury by cliff combe cote croft dale field ford gate grove ham haven hill
    holm hurst land leigh low mere minster moor mouth ness pool port shaw side stead stone stow thorpe
    ton vale wall water well wick wood worth
""".split()  # noqa: SIM905 - a table


class PlaceNames:
    """Draws names, each at most once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def draw(self) -> str:
        """A name that was not drawn before."""
        while True:
            first, middle, last = (self._rng.choice(part) for part in (_FIRST, _MIDDLE, _LAST))
            name = f"{first}{middle}{last}"
            if name not in self._taken:
                self._taken.add(name)
                return name
