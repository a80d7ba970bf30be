"""Names of mailboxes on the wire (modified UTF-7, RFC 3501, 5.1.3) and the patterns of LIST, in linear time.

pymap's decoder does not end on a name such as ``R&D``, its encoder leaves an ampersand behind an umlaut as it
is, and its patterns take exponential time.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable

from pymap.parsing.command import auth
from pymap.parsing.response import specials
from pymap.parsing.specials import mailbox

_SHIFTED = re.compile(rb"&([A-Za-z0-9+,]*)-")
_SHIFTING = re.compile(r"[^ -~]+|&")
_WILDCARDS = re.compile(r"[*%]+")
_LONGEST = 255
"""Characters of the longest name that a folder may have."""


def decode(data: bytes) -> str:
    """Decode a mailbox name. Invalid modified UTF-7 is taken literally, as most servers do."""
    parts, at = [], 0
    for shifted in _SHIFTED.finditer(data):
        parts += [data[at : shifted.start()].decode("latin-1"), _unshifted(shifted[1])]
        at = shifted.end()
    return "".join([*parts, data[at:].decode("latin-1")])


def _unshifted(base64: bytes) -> str:
    if not base64:
        return "&"
    try:
        name = (b"+" + base64.replace(b",", b"/") + b"-").decode("utf-7")
        name.encode()  # half of a character decodes, but is none
        return name
    except UnicodeError:
        return f"&{base64.decode('ascii')}-"


def encode(name: str) -> bytes:
    """Encode a mailbox name for the wire."""
    return _SHIFTING.sub(_shifted, name).encode("ascii")


def _shifted(found: re.Match[str]) -> str:
    if found[0] == "&":
        return "&-"
    base64 = b64encode(found[0].encode("utf-16-be", "replace")).decode().rstrip("=")
    return f"&{base64.replace('/', ',')}-"


def matcher(pattern: str) -> Callable[[str], bool]:
    """Compile a LIST pattern into a predicate. Wildcards may match nothing; mailboxes have no hierarchy."""
    first, *others = _WILDCARDS.split(pattern)
    if sum(map(len, (first, *others))) > _LONGEST:
        return lambda name: False
    if not others:
        return lambda name: name == pattern or (name == "INBOX" and pattern.upper() == name)
    *middle, last = map(re.escape, others)
    # Each part is taken where it stands first, and never looked for again.
    found = re.escape(first) + "".join(f"(?>.*?{part})" for part in middle) + f".*{last}"
    exact, folded = re.compile(found, re.DOTALL), re.compile(found, re.DOTALL | re.IGNORECASE)
    return lambda name: bool((folded if name == "INBOX" else exact).fullmatch(name))


def mend_pymap() -> None:
    """Make pymap use our encoding of names."""
    for module in (auth, mailbox):
        module.modutf7_decode = decode  # type: ignore[attr-defined]
    for module in (mailbox, specials):
        module.modutf7_encode = encode  # type: ignore[attr-defined]
