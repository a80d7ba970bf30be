"""SEARCH: the commands as pymap reads them, and their criteria in the words of the operation."""

from __future__ import annotations

from collections.abc import Sequence

from pymap.exceptions import NotSupportedError, ResponseError
from pymap.parsing import Params
from pymap.parsing.command.select import SearchCommand, UidSearchCommand
from pymap.parsing.exceptions import NotParseable
from pymap.parsing.response import ResponseBad
from pymap.parsing.specials import SearchKey, SequenceSet
from pymap.selected import SelectedMailbox

from mesocosm.doors.mail.operations import write_ids

Criterion = list[object]

BAD_CHARSET = b"BADCHARSET"
"""The response code of a charset that is not known."""

_FLAGS = ("ANSWERED", "DELETED", "DRAFT", "FLAGGED", "SEEN")
_TEXTS = ("BCC", "BODY", "CC", "FROM", "SUBJECT", "TEXT", "TO")
_DATES = {
    "BEFORE": "before",
    "ON": "on",
    "SINCE": "since",
    "SENTBEFORE": "before",
    "SENTON": "on",
    "SENTSINCE": "since",
}
_NOTHING: Criterion = ["or"]
_LARGEST_NUMBER = 2**32 - 1


class MailSearch(SearchCommand):
    """SEARCH. pymap's own parser raises other errors for some malformed input."""

    @classmethod
    def parse(cls, buf: memoryview, params: Params) -> tuple[SearchCommand, memoryview]:
        try:
            return super().parse(buf, params)
        except NotParseable:
            raise
        except ValueError as problem:  # text that is not in its charset, a number of thousands of digits
            raise NotParseable(buf) from problem

    @classmethod
    def _parse_charset(cls, buf: memoryview, params: Params) -> tuple[str | None, memoryview]:
        try:
            return super()._parse_charset(buf, params)
        except ValueError as problem:
            raise NotParseable(buf, BAD_CHARSET) from problem


class UidSearch(UidSearchCommand, MailSearch):
    """UID SEARCH."""


class SearchTooLarge(ResponseError):
    """A number that IMAP does not have."""

    def get_response(self, tag: bytes) -> ResponseBad:
        return ResponseBad(tag, b"SEARCH: A number is %d at most." % _LARGEST_NUMBER)


def criterion_of(keys: Sequence[SearchKey], selected: SelectedMailbox) -> Criterion:
    """Build the criterion that all keys match."""
    return ["and", *sorted((_criterion(key, selected) for key in keys), key=repr)]


def _criterion(key: SearchKey, selected: SelectedMailbox) -> Criterion:
    if key.inverse:
        return ["not", _criterion(key.not_inverse, selected)]
    name = key.value_str
    positive = name.removeprefix("UN")
    if positive in _FLAGS:
        flag: Criterion = ["flag", positive.capitalize()]
        return flag if positive == name else ["not", flag]
    if name in _TEXTS:
        return ["text", name.lower(), key.filter_str]
    if name in _DATES:
        return [_DATES[name], key.filter_datetime.date().isoformat()]
    match name:
        case "ALL" | "OLD" | "UNKEYWORD":
            return ["and"]
        case "KEYWORD" | "NEW" | "RECENT":
            return _NOTHING  # the store has neither keywords nor \Recent
        case "OR":
            return ["or", *(_criterion(side, selected) for side in key.filter_key_or)]
        case "KEYSET":
            return ["and", *(_criterion(inner, selected) for inner in key.filter_key_set)]
        case "SEQSET":
            return ["ids", write_ids(ids_of(key.filter_sequence_set, selected))]
        case "HEADER":
            return ["header", *key.filter_header]
        case "LARGER" | "SMALLER":
            if key.filter_int > _LARGEST_NUMBER:
                raise SearchTooLarge
            return [name.lower(), key.filter_int]
    raise NotSupportedError(f"SEARCH {name} is not supported.")


def ids_of(messages: SequenceSet, selected: SelectedMailbox) -> list[int]:
    """The UIDs that a set of sequence numbers or UIDs stands for, in ascending order."""
    return [uid for _, uid in selected.messages.get_uids(messages)]
