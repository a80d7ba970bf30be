"""The browser as a local web application: pages for whoever has the key, which the address that is opened
carries."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import orjson
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from mesocosm.errors import NotFound, UsageError
from mesocosm.evaluation.browser.pages import Pages, ShownPage, environment, starting_at
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.working_out import WorkingOut
from mesocosm.evaluation.report.rows import Sample
from mesocosm.services.calling import Direct, ToolError
from mesocosm.services.service import UnknownTool
from mesocosm.services.views import Asked

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
)
_COOKIE = "mesocosm_key"
_OPEN = 4
"""Subjects that are kept open, besides copies on which tools are called by hand."""
_ROWS = 200
_FILTERS = ("task", "length", "model", "strategy", "verdict", "class")


_PAGES: Mapping[str, Callable[[Pages, Mapping[str, str]], str]] = {
    "": Pages.overview,
    "world": Pages.world,
    "search": Pages.search,
    "calls": Pages.calls,
    "changes": Pages.changes,
    "evidence": Pages.evidence,
    "derivations": Pages.derivations,
    "people": Pages.people,
    "events": Pages.events,
    "ask": Pages.answer,
}


def _options(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.query_params.items() if name != "key"}


Options = Annotated[dict[str, str], Depends(_options)]


@dataclass(frozen=True)
class ListedEntry:
    """Something that can be looked at, and what is known of it without opening it."""

    path: Path | None
    """Its folder; None where it was not kept."""
    sample: Sample | None = None

    @property
    def row(self) -> dict[str, str]:
        """The row that a list of episodes shows."""
        one = self.sample
        if one is None:
            told = {"task": self.path.name if self.path else ""}
        else:
            told = {
                "task": one.task,
                "length": f"{one.length:,}" if one.length else "",
                "seed": str(one.seed),
                "model": one.model,
                "strategy": one.strategy,
                "verdict": one.verdict,
                "class": one.failure,
                "calls": f"{one.tool_calls:,}",
            }
        names = (*_FILTERS, "seed", "calls")
        return {name: told.get(name, "") for name in names} | {"kept": "yes" if self.path else ""}


class _Html(HTMLResponse):
    """A page in which names of files may have bytes that are no text."""

    def render(self, content: Any) -> bytes:
        return str(content).encode("utf-8", "replace")


class Browser:
    """Cache of opened subjects, filled as pages are requested."""

    def __init__(self, entries: Sequence[ListedEntry], *, answers: bool = True, frozen: bool = False) -> None:
        self.entries = list(entries)
        self.answers = answers
        self.frozen = frozen
        self.hands: dict[int, Subject] = {}
        """Copies on which tools are called by hand, by number."""
        self._open: OrderedDict[int, tuple[Subject, Pages]] = OrderedDict()
        self._folder = tempfile.TemporaryDirectory(prefix="mesocosm-hand-")
        self._working: dict[int, WorkingOut] = {}
        self._lock = threading.Lock()

    def pages(self, number: int) -> tuple[Subject, Pages]:
        """The pages of a subject; raises ``NotFound`` where there is none."""
        if number not in self._open:
            if not 0 <= number < len(self.entries) or self.entries[number].path is None:
                raise NotFound(f"there is no episode {number}, or it was not kept")
            self._open[number] = self._opened(number)
            while len(self._open) > _OPEN:
                _, (old, _) = self._open.popitem(last=False)
                with old.lock:
                    old.close()
        self._open.move_to_end(number)
        subject, pages = self._open[number]
        if number in self._working and (found := self._working[number].found):
            pages.take(found)
        return subject, pages

    def _opened(self, number: int) -> tuple[Subject, Pages]:
        path = self.entries[number].path
        assert path is not None
        subject = Subject(path, answers=self.answers)
        return subject, Pages(ShownPage(subject, f"/{number}", len(self.entries) > 1, self.frozen))

    def work_out(self, number: int) -> None:
        """Begin to work out why an episode failed, if it takes long, while its other pages are looked at."""
        subject, pages = self.pages(number)
        is_wanted = subject.acted and subject.answers and not pages.knows_why
        with self._lock:
            if is_wanted and number not in self._working:
                folder = tempfile.mkdtemp(dir=self._folder.name)
                self._working[number] = WorkingOut(subject.path, Path(folder))

    def await_why(self, number: int) -> None:
        """Wait until it is worked out why an episode failed."""
        self.work_out(number)
        if number in self._working:
            self._working[number].wait()

    def fork(self, number: int) -> int:
        """A copy of a subject on which tools may be called; returns its number."""
        subject, _ = self.pages(number)
        path = Path(self._folder.name) / f"{len(self.entries)}" / "episode"
        path.parent.mkdir()
        with subject.lock:
            subject.fork(path)
        self.entries.append(ListedEntry(path.parent))
        return len(self.entries) - 1

    def is_hand(self, number: int) -> bool:
        """True if tools may be called by hand there."""
        path = self.entries[number].path if number < len(self.entries) else None
        return path is not None and path.is_relative_to(self._folder.name)

    def call(self, number: int, service: str, tool: str, arguments: Mapping[str, Any]) -> int:
        """Call a tool by hand; returns the number of the call."""
        from mesocosm.families.episode import Episode

        path = self.entries[number].path
        assert path is not None
        if number in self._open:
            self._open.pop(number)[0].close()
        if number in self._working:
            self._working.pop(number).close()
        episode = Episode(path / "episode")
        try:
            Direct(episode.world).look(service, tool, dict(arguments))
        except (ToolError, TimeoutError):
            pass  # which the journal says
        finally:
            last = episode.world.journal.last
            episode.close()
        return last

    def runs(self, options: Mapping[str, str]) -> str:
        """All episodes, filtered."""
        rows = [(number, entry.row) for number, entry in enumerate(self.entries)]
        filters = {name: sorted({row[name] for _, row in rows if row[name]}) for name in _FILTERS}
        chosen = {name: options[name] for name in _FILTERS if options.get(name)}
        kept = [(n, row) for n, row in rows if all(row[name] == value for name, value in chosen.items())]
        start = Asked(options).start
        return (
            environment()
            .get_template("runs.html")
            .render(
                subject=None,
                base="",
                title="Episodes",
                rows=kept[start : start + _ROWS],
                total=len(kept),
                filters=filters,
                chosen=chosen,
                start=start,
                size=_ROWS,
                here=partial(starting_at, "/", options),
            )
        )

    def close(self) -> None:
        """Forget all copies."""
        for working in self._working.values():
            working.close()
        for subject, _ in self._open.values():
            subject.close()
        self._open.clear()
        self._folder.cleanup()


def application(
    browser: Browser, key: str, hosts: Sequence[str] = ("127.0.0.1", "localhost", "[::1]")
) -> FastAPI:
    """Build the web application. Without the key it shows nothing."""
    app = FastAPI(title="Mesocosm", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))

    def allowed(request: Request) -> None:
        given = request.query_params.get("key") or request.cookies.get(_COOKIE, "")
        if not secrets.compare_digest(given.encode(), key.encode()):
            raise HTTPException(403, "Open the address that `mesocosm view` printed: it carries the key.")

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Any]) -> Response:
        response: Response = await call_next(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.exception_handler(NotFound)
    @app.exception_handler(UsageError)
    def missing(_: Request, error: Exception) -> HTMLResponse:
        page = (
            environment()
            .get_template("missing.html")
            .render(subject=None, base="", title="Not found", said=str(error))
        )
        return _Html(page, 404)

    known: dict[str, Any] = {"dependencies": [Depends(allowed)], "response_class": _Html}

    def show(number: int, what: Callable[[Pages], str]) -> HTMLResponse:
        subject, pages = browser.pages(number)
        with subject.lock:
            return _Html(what(pages))

    def static(name: str, kind: str) -> Response:
        return Response(
            resources.files("mesocosm.evaluation.browser").joinpath("static", name).read_bytes(),
            media_type=kind,
        )

    @app.get("/browser.css")
    def style() -> Response:
        return static("browser.css", "text/css")

    @app.get("/browser.js")
    def script() -> Response:
        return static("browser.js", "text/javascript")

    @app.get("/", **known)
    def runs(request: Request, options: Options) -> Response:
        if "key" in request.query_params:
            # The key stays in no address, history or referrer.
            answer = RedirectResponse("/" if len(browser.entries) > 1 else "/0/", 303)
            answer.set_cookie(_COOKIE, key, httponly=True, samesite="strict")
            return answer
        return _Html(browser.runs(options))

    @app.get("/beside", **known)
    def beside(request: Request) -> HTMLResponse:
        numbers = [int(one) for one in request.query_params.getlist("of") if one.isdecimal()][:2]
        return HTMLResponse(
            environment()
            .get_template("beside.html")
            .render(subject=None, base="", title="Side by side", numbers=numbers)
        )

    @app.get("/{number:int}/world/{state}/{service}/{path:path}", **known)
    def place(number: int, state: str, service: str, path: str, options: Options) -> HTMLResponse:
        return show(number, lambda pages: pages.place(state, service, path, options))

    @app.get("/{number:int}/calls/{seq:int}", **known)
    def call(number: int, seq: int, options: Options) -> HTMLResponse:
        return show(number, lambda pages: pages.call(seq, options))

    @app.get("/{number:int}/turns/{turn:int}", **known)
    def turn(number: int, turn: int, options: Options) -> HTMLResponse:
        return show(number, lambda pages: pages.turn(turn, options))

    @app.get("/{number:int}/people/{address}", **known)
    def person(number: int, address: str, options: Options) -> HTMLResponse:
        return show(number, lambda pages: pages.person(address, options))

    @app.get("/{number:int}/tools", **known)
    def tools(number: int, options: Options) -> HTMLResponse:
        return show(number, lambda pages: pages.tools(options, hand=browser.is_hand(number)))

    @app.get("/{number:int}/{page}", **known)
    def page(number: int, page: str, options: Options) -> HTMLResponse:
        if page not in _PAGES:
            raise NotFound(f"there is no page {page!r}")
        return show(number, lambda pages: _PAGES[page](pages, options))

    @app.get("/{number:int}/", **known)
    def overview(number: int, options: Options) -> HTMLResponse:
        if options.get("why"):
            browser.await_why(number)
        return page(number, "", options)

    @app.post("/{number:int}/fork", **known)
    def fork(number: int) -> RedirectResponse:
        return RedirectResponse(f"/{browser.fork(number)}/tools", 303)

    @app.post("/{number:int}/tools/{service}/{tool}", **known)
    async def use(number: int, service: str, tool: str, request: Request) -> Response:
        if not browser.is_hand(number):
            raise UsageError("tools are called by hand in a copy only")
        form = await request.form()
        given = {name: _argument(str(value)) for name, value in form.items() if value != ""}
        try:
            seq = browser.call(number, service, tool, given)
        except UnknownTool as error:
            raise NotFound(str(error)) from None
        return RedirectResponse(f"/{number}/calls/{seq}", 303)

    return app


def _argument(text: str) -> Any:
    """Parse a form value: as JSON if possible, else as text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def entries_of(path: Path) -> Sequence[ListedEntry]:
    """List the entries at a path; raises ``UsageError`` if there are none."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    if _is_one(path):
        return [ListedEntry(path)]
    logged = path.is_file() or any(True for _ in path.rglob("*.eval"))
    runs = path.is_dir() and any(True for _ in path.rglob("run.json"))
    if logged or runs:
        return _episodes(path)
    worlds = {file.parent.parent for file in path.rglob("world.json") if file.parent.name == "world"}
    found = [ListedEntry(one) for one in sorted(worlds) if _is_one(one)]
    if not found:
        raise UsageError(f"{path} holds no instance, episode, run or log")
    return found


def _is_one(path: Path) -> bool:
    if any((folder / "episode.json").is_file() for folder in (path / "episode", path)):
        return True
    return (path / "world" / "world.json").is_file() and (path / "expected.json").is_file()


def _episodes(path: Path) -> list[ListedEntry]:
    """The samples of logs and runs, in the order of a report."""
    from mesocosm.evaluation.report.rows import read_samples
    from mesocosm.evaluation.report.tables import place

    found = []
    for sample in read_samples([path]):
        folder = Path(place(sample)) if sample.world else None
        found.append(ListedEntry(folder if folder and _is_one(folder) else None, sample))
    return sorted(found, key=lambda one: one.row["verdict"] != "failed")
