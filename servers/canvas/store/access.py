"""Authorisation: the signed-in user, and their rights in a course or account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

from sqlalchemy import Select, Table, bindparam, column, func, insert, or_, select, table

from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.servers.canvas.models import Account, AccountAdmin, Base, Course, Enrollment, SignIn, User
from mesocosm.servers.canvas.store import values
from mesocosm.services.schema import About, Number
from mesocosm.services.service import Page, Paging, Row, Rules

if TYPE_CHECKING:
    from mesocosm.servers.canvas.store import CanvasStore
P = ParamSpec("P")
R = TypeVar("R")

ADDRESS = "https://canvas.brookfield.example"
"""Address of the pages if nothing is known of whose Canvas it is."""
_host: ContextVar[Callable[[], str]] = ContextVar("host", default=lambda: ADDRESS)


def address() -> str:
    """Address of the pages of the Canvas whose objects are being made."""
    return _host.get()()


def at_home(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a tool so that the objects it makes lie on the host of its store, which is asked at most once."""

    @wraps(function)
    def hosted(*args: P.args, **values: P.kwargs) -> R:
        store = args[0]
        assert isinstance(store, View)
        token = _host.set(cache(lambda: store.host() or ADDRESS))
        try:
            return function(*args, **values)
        finally:
            _host.reset(token)

    return hosted


# Pages of lists, the way every list of Canvas is paged.

PER_PAGE = 10
MAX_PER_PAGE = 100
MAX_PAGE = 10**6


class Lister:
    """A statement that is read in pages, with its count."""

    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement
        self.rows = statement.limit(bindparam("limit")).offset(bindparam("offset"))
        self.total = select(func.count().label("total")).select_from(statement.order_by(None).subquery())


MIN_SEARCH = 2


def matching(search_term: str, *columns: Any) -> Any:
    """The condition that one of the columns holds a text; upper and lower case are the same."""
    term = values.text(search_term.strip(), "search_term", limit=values.MAX_TITLE)
    if len(term) < MIN_SEARCH:
        raise Invalid(f"search_term must be at least {MIN_SEARCH} characters")
    escaped = term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return or_(*(column.like(f"%{escaped}%", escape="\\") for column in columns))


class CourseRows:
    """The rows of a table that lie in a course, and who sees them: students what is ``shown``, its staff all.

    Args:
        kind: What refusals call one.
        model: The table.
        order: Of lists; the id decides between equals.
        shown: What students see; without it, everything.
        search: The columns that a search looks at.
        columns: The statement that reads them; usually the table alone.
        inside: The column that names the place in which they lie; usually the course.
    """

    def __init__(
        self,
        kind: str,
        model: Any,
        *order: Any,
        shown: Any = None,
        search: Sequence[Any] = (),
        columns: Select[Any] | None = None,
        inside: Any = None,
    ) -> None:
        self.kind, self.search, self.order, self.id = kind, search, order, model.id
        self.seen: Select[Any] = (select(*model.__table__.c) if columns is None else columns).where(
            (model.course_id if inside is None else inside) == bindparam("inside"),
            *(() if shown is None else [or_(shown, bindparam("staff"))]),
        )
        self.single = self.seen.where(model.id == bindparam("row"))
        self.all = self.listed()

    def listed(self, *conditions: Any, order: Sequence[Any] = ()) -> Lister:
        """Those that meet the conditions."""
        return Lister(self.seen.where(*conditions).order_by(*(order or self.order), self.id))


def check_page(page: int, per_page: int) -> None:
    """Refuse a page that cannot be."""
    if not 1 <= page <= MAX_PAGE:
        raise Invalid(f"page must be between 1 and {MAX_PAGE}, got {page}.")
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise Invalid(f"per_page must be between 1 and {MAX_PER_PAGE}, got {per_page}.")


STUDENT, TEACHER, TA = "StudentEnrollment", "TeacherEnrollment", "TaEnrollment"
OBSERVER, DESIGNER = "ObserverEnrollment", "DesignerEnrollment"
ENROLLMENT_TYPES = (STUDENT, TEACHER, TA, OBSERVER, DESIGNER)
STAFF = (TEACHER, TA, DESIGNER)
GRADERS = (TEACHER, TA)

Rows = Iterable[Row]
M = TypeVar("M", bound=Base)
Clock = Callable[[], str]
"""Tells the world's time as the tables keep it."""

CourseId = Annotated[Number, About("The course.")]
MAX_ID = 2**63 - 1
_NOT_ALLOWED = "user not authorized to perform that action"

_VIEWER = select(SignIn.user_id)
_LOGIN = select(User.login_id).join(SignIn, SignIn.user_id == User.id)
_COURSE = select(*Course.__table__.c).where(
    Course.id == bindparam("course"), Course.workflow_state != "deleted"
)
_ROLES = select(Enrollment.type, Enrollment.enrollment_state, Enrollment.associated_user_id).where(
    Enrollment.user_id == bindparam("user"),
    Enrollment.course_id == bindparam("course"),
    Enrollment.enrollment_state.in_(("active", "completed")),
)
_ADMINISTERED = select(AccountAdmin.account_id).where(AccountAdmin.user_id == bindparam("user"))
_PARENT = select(Account.parent_account_id).where(Account.id == bindparam("account"))
_COUNTER: Select[Any] = (
    select(column("seq")).select_from(table("sqlite_sequence")).where(column("name") == bindparam("name"))
)


def table_of(model: type[Base]) -> Table:
    """The table below a model: statements on it skip the cost of the session."""
    table = model.__table__
    assert isinstance(table, Table)
    return table


class Unauthenticated(Denied):
    """Nobody is signed in."""

    status = 401


def denied() -> Denied:
    """The refusal with which Canvas answers whatever a user may not do."""
    return Denied(_NOT_ALLOWED, code="unauthorized")


def missing(kind: str, key: object) -> NotFound:
    """The refusal for something that does not exist, or not for this user."""
    return NotFound(f"The specified resource does not exist: {kind} {key}")


@dataclass(frozen=True)
class CourseAccess:
    """A course and what the signed-in user may do in it."""

    course: Row
    user_id: int
    clock: Clock
    """Not just the time: what has not asked for it is the same at any time, and so is kept."""
    admin: bool
    active: frozenset[str]
    """Types of the user's active enrollments."""
    past: frozenset[str]
    """Types of the user's completed enrollments."""
    observed: frozenset[int]
    """Students whom the user observes."""

    @property
    def now(self) -> str:
        """The world's clock as the tables keep it."""
        return self.clock()

    @property
    def staff(self) -> bool:
        """Sees what is not published."""
        return self.admin or not (self.active | self.past).isdisjoint(STAFF)

    @property
    def sees_grades(self) -> bool:
        """Sees everybody's work and grades."""
        return self.admin or not (self.active | self.past).isdisjoint(GRADERS)

    @property
    def closed(self) -> bool:
        """The course was concluded by hand: nobody but an administrator changes it."""
        return bool(self.course["workflow_state"] == "completed")

    @property
    def ended(self) -> bool:
        """The course was concluded, or its end has come: students take no part any more."""
        end_at = self.course["end_at"]
        return self.closed or (end_at is not None and bool(end_at <= self.now))

    @property
    def edits(self) -> bool:
        """May change the content of the course."""
        return self.admin or (not self.closed and not self.active.isdisjoint(STAFF))

    @property
    def grades(self) -> bool:
        """May grade."""
        return self.admin or (not self.closed and not self.active.isdisjoint(GRADERS))

    @property
    def manages(self) -> bool:
        """May change the settings of the course and enroll staff."""
        return self.admin or (not self.closed and not self.active.isdisjoint((TEACHER, DESIGNER)))

    @property
    def studies(self) -> bool:
        """Takes part as a student."""
        return STUDENT in self.active and not self.ended

    @property
    def reads(self) -> bool:
        """May see the course at all."""
        if self.course["workflow_state"] == "unpublished":
            return self.staff
        return self.staff or bool(self.active or self.past) or bool(self.course["is_public"])

    def may_see_work_of(self, user_id: int) -> bool:
        """True if the user may see the work and grades of this student."""
        return self.sees_grades or user_id == self.user_id or user_id in self.observed


class View(Rules):
    """The signed-in user's view, which the store and each of its parts have."""

    @property
    def stamp(self) -> str:
        """The world's clock as the tables keep it."""
        return values.timestamp(self.now)

    def days_away(self, days: int) -> str:
        """The moment so many days from now, as the tables keep it."""
        return values.timestamp(self.now + timedelta(days=days))

    # -- who --------------------------------------------------------------------------------------------

    @property
    def user_id(self) -> int:
        """Id of the signed-in user; ``Denied`` if nobody is signed in."""
        user_id = self.signed_in
        if user_id is None:
            message = "user authorization required: sign in with canvas_login"
            raise Unauthenticated(message, code="unauthenticated")
        return user_id

    @property
    def signed_in(self) -> int | None:
        """Id of the signed-in user, if any."""
        rows = self.fetch(_VIEWER)
        return int(rows[0]["user_id"]) if rows else None

    def host(self) -> str | None:
        """Return the host of this Canvas, at the signed-in user's domain; ``None`` without a user."""
        rows = self.fetch(_LOGIN)
        domain = rows[0]["login_id"].partition("@")[2] if rows else ""
        return f"https://canvas.{domain}" if domain else None

    def sign_in(self, user_id: int) -> None:
        """Make this the user that the tools act for."""
        self.session.merge(SignIn(id=1, user_id=user_id))
        self.session.flush()

    def administers(self, account_id: int) -> bool:
        """True if the signed-in user administers the account or one above it."""
        return self._administers(self.user_id, account_id)

    def _administers(self, user_id: int, account_id: int) -> bool:
        administered = {row["account_id"] for row in self.fetch(_ADMINISTERED, user=user_id)}
        account: int | None = account_id
        while administered and account is not None:
            if account in administered:
                return True
            account = self.fetch(_PARENT, account=account)[0]["parent_account_id"]
        return False

    # -- courses ----------------------------------------------------------------------------------------

    def access(self, course_id: int) -> CourseAccess:
        """A course with the user's rights in it, which may be none."""
        user_id = self.user_id
        course = self.one(_COURSE, "course", course_id, course=course_id)
        roles = self.fetch(_ROLES, user=user_id, course=course_id)
        return CourseAccess(
            course=course,
            user_id=user_id,
            clock=lambda: self.stamp,
            admin=self._administers(user_id, course["account_id"]),
            active=frozenset(r["type"] for r in roles if r["enrollment_state"] == "active"),
            past=frozenset(r["type"] for r in roles if r["enrollment_state"] == "completed"),
            observed=frozenset(r["associated_user_id"] for r in roles if r["associated_user_id"]),
        )

    def reading(self, course_id: CourseId) -> CourseAccess:
        """A course that the user may see."""
        return _allowed(access := self.access(course_id), access.reads)

    def editing(self, course_id: CourseId) -> CourseAccess:
        """A course whose content the user may change."""
        return _allowed(access := self.access(course_id), access.edits)

    def grading(self, course_id: CourseId) -> CourseAccess:
        """A course in which the user may grade."""
        return _allowed(access := self.access(course_id), access.grades)

    def managing(self, course_id: int) -> CourseAccess:
        """A course whose settings the user may change."""
        return _allowed(access := self.access(course_id), access.manages)

    # -- rows -------------------------------------------------------------------------------------------

    def one(self, statement: Select[Any], kind: str, key: int | str, **parameters: Any) -> Row:
        """The one row of a statement; ``NotFound`` names what was looked for."""
        if any(isinstance(value, int) and not -MAX_ID <= value <= MAX_ID for value in parameters.values()):
            raise missing(kind, key)
        rows = self.fetch(statement, **parameters)
        if not rows:
            raise missing(kind, key)
        return rows[0]

    def listing(self, lister: Lister, paging: Paging, **parameters: Any) -> Page:
        check_page(*paging)
        page, per_page = paging
        rows = self.fetch(lister.rows, limit=per_page, offset=(page - 1) * per_page, **parameters)
        if len(rows) < per_page and (rows or page == 1):
            total = (page - 1) * per_page + len(rows)
        else:
            total = int(self.fetch(lister.total, **parameters)[0]["total"])
        return Page(rows, *paging, total)

    def row(self, rows: CourseRows, access: CourseAccess, key: int, inside: int | None = None) -> Row:
        """One of the rows that the user sees, in the course or in the place that is named."""
        return self.one(rows.single, rows.kind, key, row=key, **self._seen(access, inside))

    def rows(
        self,
        rows: CourseRows,
        access: CourseAccess,
        paging: Paging,
        *conditions: Any,
        inside: int | None = None,
        search_term: str | None = None,
        order: Sequence[Any] = (),
        **parameters: Any,
    ) -> Page:
        """The rows that the user sees and that match; all of them are read by a statement built at import."""
        if search_term is not None:
            conditions = (*conditions, matching(search_term, *rows.search))
        lister = rows.listed(*conditions, order=order) if conditions or order else rows.all
        return self.listing(lister, paging, **self._seen(access, inside), **parameters)

    @staticmethod
    def _seen(access: CourseAccess, inside: int | None) -> dict[str, Any]:
        place = access.course["id"] if inside is None else inside
        return {"inside": place, "staff": access.staff, "user": access.user_id}

    def insert(self, row: M) -> M:
        """Add one row; it has its id afterwards."""
        self.session.add(row)
        self.session.flush()
        return row

    def change(self, table: type[M], key: int, values: Row) -> None:
        """Change columns of one row."""
        row = self.session.get_one(table, key)
        for name, value in values.items():
            setattr(row, name, value)
        self.session.flush()

    def ids(self, statement: Select[Any], **parameters: Any) -> list[int]:
        """The ids that a statement finds, in its order."""
        return [row["id"] for row in self.fetch(statement, **parameters)]

    def remove(self, table: type[Base], key: Any) -> None:
        """Delete one row."""
        self.session.delete(self.session.get_one(table, key))
        self.session.flush()

    def fill(self, model: type[Base], rows: Sequence[Row]) -> list[int]:
        """Insert many rows at once into a table with counted ids; returns the ids in order."""
        if not rows:
            return []
        self.session.flush()
        counters = self.fetch(_COUNTER, name=model.__tablename__)
        counter = counters[0]["seq"] if counters else 0
        ids = list(range(counter + 1, counter + 1 + len(rows)))
        numbered = [{**row, "id": key} for row, key in zip(rows, ids, strict=True)]
        self.session.execute(insert(table_of(model)), numbered)
        return ids


class StorePart(View):
    """One topic of the store, with the signed-in user's view; the others are reached through ``store``."""

    def __init__(self, store: CanvasStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store


def _allowed(access: CourseAccess, condition: bool) -> CourseAccess:
    if not condition:
        raise denied()
    return access
