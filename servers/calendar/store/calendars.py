"""Accounts, calendars, an account's list of calendars, and access."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Select, bindparam, func, select, update
from sqlalchemy.exc import NoResultFound

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.calendar.models import (
    AccessRule,
    Account,
    Calendar,
    Entry,
    Event,
    SignIn,
    Subscription,
)
from mesocosm.servers.calendar.store.times import known_zone, midnight
from mesocosm.services.service import Row, Rules

if TYPE_CHECKING:
    from mesocosm.servers.calendar.store import CalendarStore

ROLES = ("none", "freeBusyReader", "reader", "writer", "owner")
"""From the least to the most."""
PRIMARY = "primary"
DEFAULT_COLOR = "14"
COLORS = 24
MAX_PAGE = 250

_EMAIL = re.compile(r"[^@\s<>,;:\"()\[\]\\\x00-\x1f]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_BAD_TEXT = re.compile("[\x00\ud800-\udfff]")


def one_of(name: str) -> Select[tuple[Any]]:
    """The values of a list parameter that is given as JSON: one statement for lists of any length."""
    return select(func.json_each(bindparam(name)).table_valued("value").c.value)


def as_list(values: Sequence[Any]) -> str:
    """A value for a parameter of ``one_of``."""
    return orjson.dumps(values).decode()


_ACCOUNT = select(SignIn.email, Account.name).join(Account, Account.email == SignIn.email)
_ACCESS = (
    select(*Calendar.__table__.c, AccessRule.role)
    .join(AccessRule, AccessRule.calendar == Calendar.number)
    .where(
        Calendar.id == bindparam("id"),
        Calendar.deleted.is_(False),
        AccessRule.scope.in_(one_of("scopes")),
    )
)
_LISTED = (
    select(*Calendar.__table__.c, Subscription.summary_override, Subscription.color_id, AccessRule.role)
    .join(Subscription, Subscription.calendar == Calendar.number)
    .join(AccessRule, AccessRule.calendar == Calendar.number)
    .where(
        Subscription.account == bindparam("account"),
        Calendar.deleted.is_(False),
        AccessRule.scope.in_(one_of("scopes")),
    )
    .order_by(Calendar.primary.desc(), Subscription.id)
)
_RULES = (
    select(AccessRule.id, AccessRule.scope, AccessRule.role)
    .where(AccessRule.calendar == bindparam("calendar"), AccessRule.id > bindparam("after"))
    .order_by(AccessRule.id)
    .limit(bindparam("limit"))
)


@dataclass(frozen=True)
class Access:
    """A calendar as the signed-in account sees it."""

    number: int
    id: str
    owner: str
    primary: bool
    summary: str
    description: str | None
    location: str | None
    time_zone: str
    role: str
    summary_override: str | None = None
    color_id: str = DEFAULT_COLOR

    @property
    def default_reminders(self) -> list[dict[str, Any]]:
        """Google's: a pop-up ten minutes before what is on a primary calendar."""
        return [{"method": "popup", "minutes": 10}] if self.primary else []

    def may(self, role: str) -> bool:
        """True if the account has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def storable(text: str) -> bool:
    """True if the database can hold the text, so that it may be an id."""
    return _BAD_TEXT.search(text) is None


def clean(text: str, name: str, longest: int) -> str:
    """Text that the tables can keep and a page can show."""
    if not storable(text):
        raise Invalid(
            f"Invalid value for {name}: it contains characters that text cannot hold.", code="invalid"
        )
    if len(text) > longest:
        raise Invalid(f"Invalid value for {name}: at most {longest} characters.", code="invalid")
    return text


def address(text: str, message: str = "Invalid e-mail address") -> str:
    """An e-mail address in lower case, which is how accounts and guests are compared."""
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise Invalid(f"{message}: {text[:80]!r}.", code="invalid")
    return text.lower()


def derived_id(kind: str, number: int) -> str:
    """An id of Google's kind (26 characters of base32hex) for the row with this number."""
    digest = hashlib.sha256(f"{kind}:{number}".encode()).digest()[:17]
    return base64.b32hexencode(digest).decode().lower()[:26]


def page_bounds(max_results: int | None, page_token: str | None) -> tuple[int, int]:
    """(after, limit) of a listing by row number."""
    limit = page_limit(max_results)
    if page_token is None:
        return 0, limit
    if not re.fullmatch(r"\d{1,15}", page_token, re.ASCII):
        raise Invalid("Invalid page token value.", code="invalid")
    return int(page_token), limit


def page_limit(max_results: int | None) -> int:
    """Return the maximum page size. As with Google, a page may hold fewer results than requested."""
    if max_results is not None and max_results < 1:
        raise Invalid(f"Invalid value for maxResults: {max_results}. It must be 1 or more.", code="invalid")
    return min(max_results or MAX_PAGE, MAX_PAGE)


class Calendars(Rules):
    """Calendars, seen by the account that is signed in: what the store and all its parts need."""

    # -- accounts ---------------------------------------------------------------------------------------

    @property
    def account(self) -> str:
        """Address of the account that is signed in; ``Denied`` if nobody is."""
        rows = self.fetch(_ACCOUNT)
        if not rows:
            raise Denied("Login Required.", code="required")
        return str(rows[0]["email"])

    def create_account(self, email: str, name: str, time_zone: str = "UTC") -> None:
        """A new account with its primary calendar."""
        email = address(email)
        if self.session.get(Account, email):
            raise Conflict(f"The account {email} already exists.")
        self.session.add(Account(email=email, name=clean(name, "name", 200)))
        self.session.flush()
        self._add_calendar(email, email, time_zone, id=email, primary=True)

    def sign_in(self, email: str) -> None:
        """Make this the account that the tools act for."""
        if not self.session.get(Account, email):
            raise NotFound(f"There is no account {email}.")
        self.session.merge(SignIn(id=1, email=email))
        self.session.flush()

    # -- access -----------------------------------------------------------------------------------------

    def calendar(self, calendar_id: str, role: str = "freeBusyReader") -> Access:
        """A calendar on which the account has at least this role. ``primary`` is the account's own."""
        account = self.account
        wanted = account if calendar_id == PRIMARY else calendar_id
        rows = self.fetch(_ACCESS, id=wanted, scopes=_scopes(account)) if storable(wanted) else []
        if not rows:
            raise NotFound(f"Not Found: no calendar {calendar_id[:100]!r}.", code="notFound")
        found = _most(rows)[0]
        if not found.may(role):
            raise Denied(f"You need to have {role} access to this calendar.", code="requiredAccessLevel")
        return found

    def listed_calendars(self) -> Sequence[Access]:
        """The account's list of calendars, the primary one first."""
        account = self.account
        return _most(self.fetch(_LISTED, account=account, scopes=_scopes(account)))

    def list_calendars(
        self, max_results: int | None = None, page_token: str | None = None
    ) -> tuple[Sequence[Access], str | None]:
        """One page of the account's list of calendars, and the token of the next."""
        after, limit = page_bounds(100 if max_results is None else max_results, page_token)
        listed = self.listed_calendars()
        more = len(listed) > after + limit
        return listed[after : after + limit], str(after + limit) if more else None

    # -- calendars --------------------------------------------------------------------------------------

    def create_calendar(
        self,
        summary: str,
        time_zone: str | None = None,
        *,
        description: str | None = None,
        location: str | None = None,
        owner: str | None = None,
    ) -> str:
        """A new secondary calendar, of the signed-in account unless another is named; returns its id."""
        owner = owner or self.account
        if not summary.strip():
            raise Invalid("Missing title.", code="required")
        zone = time_zone or self._row(owner).time_zone
        return self._add_calendar(owner, summary, zone, description=description, location=location)

    def _add_calendar(
        self,
        owner: str,
        summary: str,
        time_zone: str,
        *,
        id: str | None = None,
        primary: bool = False,
        description: str | None = None,
        location: str | None = None,
    ) -> str:
        calendar = Calendar(
            id=id or "",
            owner=owner,
            primary=primary,
            summary=clean(summary, "summary", 254),
            description=None if description is None else clean(description, "description", 8192),
            location=None if location is None else clean(location, "location", 1024),
            time_zone=known_zone(time_zone),
        )
        self.session.add(calendar)
        self.session.flush()
        calendar.id = id or f"{derived_id('calendar', calendar.number)}@group.calendar.google.com"
        self.session.add(AccessRule(calendar=calendar.number, scope=f"user:{owner}", role="owner"))
        self._subscribe(owner, calendar.number)
        self.session.flush()
        return calendar.id

    def update_calendar(self, calendar_id: str, changes: Mapping[str, str | None]) -> Access:
        """Change ``summary``, ``description``, ``location`` or ``time_zone`` of a calendar."""
        access = self.calendar(calendar_id, "owner")
        calendar = self._row(access.id)
        for name, value in changes.items():
            if name == "summary" and not (value or "").strip():
                raise Invalid("Missing title.", code="required")
            setattr(
                calendar,
                name,
                known_zone(value or "")
                if name == "time_zone"
                else clean(value or "", name, 254 if name == "summary" else 8192) or None,
            )
        self.session.flush()
        if "time_zone" in changes:
            self._move_whole_days(calendar)
        return self.calendar(access.id)

    def _move_whole_days(self, calendar: Calendar) -> None:
        """Days begin at another instant now."""
        rows = self.fetch(
            select(Entry.id, Event.start_at, Event.end_at, Event.recurrence)
            .join(Event, Event.number == Entry.event)
            .where(Entry.calendar == calendar.number, Event.all_day, Event.recurrence.is_(None))
        )
        for row in rows:
            starts, ends = (midnight(row[end], calendar.time_zone) for end in ("start_at", "end_at"))
            self.session.execute(update(Entry).where(Entry.id == row["id"]).values(starts=starts, ends=ends))

    def _row(self, calendar_id: str) -> Calendar:
        try:
            return self.session.execute(select(Calendar).where(Calendar.id == calendar_id)).scalar_one()
        except NoResultFound:
            raise NotFound(f"Not Found: no calendar {calendar_id[:100]!r}.", code="notFound") from None

    # -- the list of calendars --------------------------------------------------------------------------

    def subscribe(
        self, calendar_id: str, summary_override: str | None = None, color_id: str | None = None
    ) -> Access:
        """Put a calendar that the account may read on its list, or change how it is shown there."""
        access = self.calendar(calendar_id)
        if color_id is not None and color_id not in {str(number) for number in range(1, COLORS + 1)}:
            raise Invalid(f"Invalid value for colorId: 1 to {COLORS} is expected.", code="invalid")
        self._subscribe(self.account, access.number, summary_override, color_id)
        return next(listed for listed in self.listed_calendars() if listed.number == access.number)

    def unsubscribe(self, calendar_id: str) -> None:
        """Take a calendar off the account's list; its owner cannot."""
        account, access = self.account, self.calendar(calendar_id)
        if access.owner == account:
            raise Denied("The data owner cannot remove a calendar from their list.", code="cannotUnsubscribe")
        if found := self._subscription(account, access.number):
            self.session.delete(found)
            self.session.flush()
            return
        raise NotFound(f"Not Found: {calendar_id!r} is not on the list of calendars.", code="notFound")

    def _subscription(self, account: str, calendar: int) -> Subscription | None:
        return self.session.execute(
            select(Subscription).where(Subscription.account == account, Subscription.calendar == calendar)
        ).scalar_one_or_none()

    def _subscribe(
        self,
        account: str,
        calendar: int,
        summary_override: str | None = None,
        color_id: str | None = None,
    ) -> None:
        found = self._subscription(account, calendar)
        if found is None:
            color = str((calendar + int(DEFAULT_COLOR) - 2) % COLORS + 1)
            found = Subscription(account=account, calendar=calendar, color_id=color)
            self.session.add(found)
        if color_id is not None:
            found.color_id = color_id
        if summary_override is not None:
            found.summary_override = clean(summary_override, "summaryOverride", 254) or None
        self.session.flush()

    # -- sharing ----------------------------------------------------------------------------------------

    def access_rules(
        self, calendar_id: str, max_results: int | None = None, page_token: str | None = None
    ) -> tuple[Sequence[Row], str | None]:
        """Return a page of access rules of a calendar, and the token of the next."""
        after, limit = page_bounds(max_results, page_token)
        access = self.calendar(calendar_id, "owner")
        rows = self.fetch(_RULES, calendar=access.number, after=after, limit=limit + 1)
        return rows[:limit], str(rows[limit - 1]["id"]) if len(rows) > limit else None

    def share(self, calendar_id: str, scope: str, role: str) -> None:
        """Give a scope (``user:ADDRESS``, ``domain:NAME`` or ``default``) a role on a calendar.

        The calendar appears on the list of a user who has an account.
        """
        self.set_rule(self.calendar(calendar_id, "owner").number, scope, role)

    def scope_of(self, email: str | None, domain: str | None, *, everybody: bool) -> str:
        """The scope of a person, a domain or everybody, whichever one is given."""
        if (email is not None) + (domain is not None) + everybody != 1:
            raise Invalid("Give one of email, domain and everybody.", code="required")
        return "default" if everybody else _scope(f"domain:{domain}" if email is None else f"user:{email}")

    def set_rule(self, calendar: int, scope: str, role: str) -> None:
        """Set an access rule without asking who does it."""
        scope = _scope(scope)
        if role not in ROLES[1:]:
            raise Invalid(
                f"Invalid role: {role[:40]!r}. It must be one of {', '.join(ROLES[1:])}.", code="invalid"
            )
        owner = self.session.get_one(Calendar, calendar).owner
        if scope == f"user:{owner}" and role != "owner":
            raise Denied("Cannot change your own access level.", code="cannotChangeOwnAcl")
        rule = self._rule(calendar, scope)
        if rule is None:
            self.session.add(AccessRule(calendar=calendar, scope=scope, role=role))
        else:
            rule.role = role
        email = scope.removeprefix("user:")
        if self.session.get(Account, email):
            self._subscribe(email, calendar)
        self.session.flush()

    def unshare(self, calendar_id: str, rule_id: str) -> None:
        """Take back what a scope may do."""
        access = self.calendar(calendar_id, "owner")
        rule = self._rule(access.number, rule_id) if storable(rule_id) else None
        if rule is None:
            raise NotFound(f"Not Found: no access rule {rule_id[:100]!r}.", code="notFound")
        if rule_id == f"user:{access.owner}":
            raise Denied("Cannot change your own access level.", code="cannotChangeOwnAcl")
        self.session.delete(rule)
        self.session.flush()

    def _rule(self, calendar: int, scope: str) -> AccessRule | None:
        return self.session.execute(
            select(AccessRule).where(AccessRule.calendar == calendar, AccessRule.scope == scope)
        ).scalar_one_or_none()


class CalendarPart(Calendars):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: CalendarStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store


def _scopes(account: str) -> str:
    return as_list([f"user:{account}", f"domain:{account.rpartition('@')[2]}", "default"])


def _scope(text: str) -> str:
    kind, _, value = text.partition(":")
    if text == "default":
        return text
    if kind == "user":
        return f"user:{address(value, 'Invalid scope value')}"
    if kind == "domain" and _DOMAIN.fullmatch(value):
        return text.lower()
    raise Invalid(f"Invalid scope value: {text[:100]!r}.", code="invalid")


def _most(rows: Sequence[Row]) -> list[Access]:
    """One ``Access`` for each calendar in the rows, which hold one row for each of its rules."""
    found: dict[int, Access] = {}
    for row in rows:
        held = found.get(row["number"])
        if held is None or not held.may(row["role"]):
            found[row["number"]] = Access(**{name: row[name] for name in row if name != "deleted"})
    return list(found.values())
