"""Several changes of a spreadsheet at once: the vendor's batchUpdate. All of them are done, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store import cell_requests, messages, requests
from mesocosm.servers.google_sheet.store.sheets import Book
from mesocosm.services.schema import Json

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

MAX_REQUESTS = 500

_KINDS: Mapping[str, Callable[[requests.Place, Any], Json | None]] = {
    **requests.REQUESTS,
    **cell_requests.REQUESTS,
}


class Batches:
    """The vendor's requests to change a spreadsheet."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def apply(self, book: Book, wanted: Sequence[Any]) -> list[Json]:
        """Execute the requests in order; returns the reply to each."""
        if not wanted:
            raise Invalid("Must specify at least one request.", code="INVALID_ARGUMENT")
        if len(wanted) > MAX_REQUESTS:
            raise Invalid(f"At most {MAX_REQUESTS} requests at once.", code="INVALID_ARGUMENT")
        with self.store.computing.held(_moves(wanted)):
            replies = self._all(book, wanted)
        if _moves(wanted):
            self.store.computing.restart(book, [dict(request) for request in wanted])
        self.store.drive.touch(book.number)
        return replies

    def _all(self, book: Book, wanted: Sequence[Any]) -> list[Json]:
        replies = []
        for number, request in enumerate(wanted):
            where = f"Invalid requests[{number}]"
            if not isinstance(request, Mapping) or len(kinds := sorted(map(str, request))) != 1:
                raise Invalid(f"{where}: one kind of request is expected.", code="INVALID_ARGUMENT")
            kind = kinds[0]
            if kind not in _KINDS:
                raise Invalid(
                    f"{where}.{kind[:60]}: this kind of request is not supported here. Supported are"
                    f" {', '.join(sorted(_KINDS))}.",
                    code="INVALID_ARGUMENT",
                )
            content = request[kind]
            if not isinstance(content, Mapping):
                raise Invalid(f"{where}.{kind}: an object is expected.", code="INVALID_ARGUMENT")
            messages.check_request(kind, content, f"requests[{number}]")
            try:
                reply = _KINDS[kind](requests.Place(self.store, book), content)
            except Invalid as refusal:
                refusal.message = f"{where}.{kind}: {refusal.message}"
                raise
            replies.append({kind: reply} if reply else {})
        return replies


def _moves(wanted: Sequence[Any]) -> bool:
    """True if requests change more than values and formats, so that all formulas are parsed again."""
    return any(
        kind in requests.STRUCTURAL
        or (isinstance(request, Mapping) and "numberFormat" in repr(request[kind]))
        for request in wanted
        if isinstance(request, Mapping)
        for kind in request
    )
