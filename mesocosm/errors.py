"""Refusals: the few ways in which a service says no to a caller.

A refusal is part of a product's behaviour: the call had no effect and the caller is told why. Anything
else that a tool raises is a fault of ours and makes the episode's verdict *errored*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pydantic import ValidationError


class Refusal(Exception):
    """A call that a service declines; its text is shown to the caller.

    ``status`` is the HTTP status that the vendor's REST API answers in this case.
    """

    status: ClassVar[int] = 400

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """The vendor's machine-readable error code, where its API has one."""


class Invalid(Refusal):
    """The arguments are not acceptable.

    Args:
        message: What the caller is told.
        code: The vendor's error code.
        parameter: The name of the argument that is not, where it is one.
        detail: What is wrong with it, to be read behind its name.
    """

    status = 400

    def __init__(
        self, message: str, *, code: str | None = None, parameter: str | None = None, detail: str = ""
    ) -> None:
        super().__init__(message, code=code)
        self.parameter = parameter
        self.detail = detail

    def rename(self, names: Mapping[str, str]) -> None:
        """Call arguments what the caller calls them, if this is about one of them.

        Args:
            names: By the name that the rules have: the caller's.
        """
        if self.parameter is None or self.parameter not in names:
            return
        self.parameter = names[self.parameter]
        for known, name in names.items():
            self.message = self.message.replace(known, name)
            self.detail = self.detail.replace(known, name)


class WrongArgument(Invalid):
    """An argument that is not acceptable for what it is, whatever the service."""

    def __init__(self, parameter: str, detail: str) -> None:
        super().__init__(f"Argument {parameter!r} {detail}", parameter=parameter, detail=detail)

    def __reduce__(self) -> tuple[type[WrongArgument], tuple[str, str]]:
        return type(self), (self.parameter or "", self.detail)


class MissingArgument(Invalid):
    """An argument that must be there."""


class UnreadableBody(Invalid):
    """The body of a request cannot be read."""


class NoObject(UnreadableBody):
    """The body of a request is JSON, but no object."""


class Denied(Refusal):
    """The signed-in account may not do this."""

    status = 403


class NotFound(Refusal):
    """The object does not exist, or not for this account."""

    status = 404


class Conflict(Refusal):
    """The object's present state does not allow this."""

    status = 409


class Temporary(Refusal):
    """It does not work now and would a moment later: what a disturbed episode answers on purpose.

    Args:
        message: What the vendor says.
        status: The HTTP status.
        code: The vendor's error code.
        headers: Headers of the answer, such as when to come back.
    """

    def __init__(
        self, message: str, status: int, *, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.http_status = status
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[type[Temporary], tuple[str, int], dict[str, object]]:
        return type(self), (self.message, self.http_status), self.__dict__


class UsageError(ValueError):
    """Request that cannot be met as given: a bad name, file or option."""


class InUse(UsageError):
    """A world is open in another process, such as a server; one process owns an open world."""


class OtherVersion(UsageError):
    """An episode was built by another version of its task, or of Mesocosm, whose rules or tables this program
    does not have."""


class NotNow(Exception):
    """It cannot be done at present, and may be a while later.

    ``seconds`` says how much later it is worth asking again.
    """

    seconds = 5


class CutOff(Exception):
    """Loss of something that a call needed, during the call. The call may be repeated if it can be undone."""


class MissingExtra(UsageError):
    """Something is asked for that a part of the dependencies is needed for, which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'mesocosm[{extra}]'")
        self._of = (what, extra)

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        # It is met in processes that build, and is told where they were asked.
        return type(self), self._of


def first_complaint(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Word the first thing that is wrong with values that were given; ``known`` are their names."""
    wrong = error.errors()[0]
    where = ".".join(str(part) for part in wrong["loc"])
    message = wrong["msg"].removeprefix("Value error, ")
    if wrong["type"] == "extra_forbidden":
        message = "there is no such parameter" + (
            f"; there are {names}" if (names := ", ".join(known)) else ""
        )
    return f"{where}: {message}" if where else message
