"""Refusals in the product's words: every message starts with the product's error code.

The REST API gives code and text apart: ``text_of`` is the message without its code.
"""

from __future__ import annotations

from mesocosm.errors import Conflict, Denied, Invalid, MissingArgument, NotFound, Refusal


class Unauthorized(Denied):
    """The API key does not permit this."""

    status = 401


class Gone(Conflict):
    """The object is in the trash already."""

    status = 410


class TooLarge(Invalid):
    """More in one request than the product takes."""

    status = 413


class NotImplementedHere(Refusal):
    """The product has no trash for this kind of object."""

    status = 501


def invalid(code: str, text: str) -> Invalid:
    """A request that the product answers with status 400."""
    return Invalid(f"{code}: {text}", code=code)


def invalid_parameter(name: str, why: str) -> Invalid:
    """A parameter that fails its check."""
    code = "rest_invalid_param"
    return Invalid(f"{code}: Invalid parameter(s): {name}. {why}", code=code, parameter=name, detail=why)


def missing(*names: str) -> MissingArgument:
    """Parameters that must be there."""
    code, listed = "rest_missing_callback_param", ", ".join(names)
    return MissingArgument(f"{code}: Missing parameter(s): {listed}", code=code, parameter=listed)


def not_found(code: str, text: str = "Invalid ID.") -> NotFound:
    """An object that does not exist."""
    return NotFound(f"{code}: {text}", code=code)


def gone(thing: str) -> Gone:
    """An object that was moved to the trash before."""
    code = "woocommerce_rest_already_trashed"
    return Gone(f"{code}: The {thing} has already been deleted.", code=code)


def no_trash(things: str, *, force: bool) -> None:
    """Refuse to delete without ``force`` what the product cannot keep in a trash."""
    if not force:
        code = "woocommerce_rest_trash_not_supported"
        raise NotImplementedHere(f"{code}: {things} do not support trashing.", code=code)


def too_large(limit: int) -> TooLarge:
    """A batch with too many items."""
    code = "woocommerce_rest_request_entity_too_large"
    return TooLarge(f"{code}: Unable to accept more than {limit} items for this request.", code=code)


def denied(code: str, text: str) -> Denied:
    """Something that the role of the key's owner does not include."""
    return Denied(f"{code}: {text}", code=code)


def unauthorized(text: str) -> Unauthorized:
    """Something that the key does not permit."""
    code = "woocommerce_rest_authentication_error"
    return Unauthorized(f"{code}: {text}", code=code)


def text_of(refusal: Refusal) -> str:
    """A refusal's message without its code."""
    return refusal.message.removeprefix(f"{refusal.code}: ")
