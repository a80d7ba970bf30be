"""Looking at worlds and at what agents did in them: view and look."""

from __future__ import annotations

import secrets
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AdminToken, Trust, trusted_in
from mesocosm.cli.output import out, print_json, spinner

What = Annotated[
    Path,
    typer.Argument(
        help="An instance, a run, an episode or a sample's folder beside a log; for `view` also a log, or a "
        "folder of any of these."
    ),
]
Hide = Annotated[
    bool, typer.Option("--hide-answers", help="Hide verdicts and evidence, as an agent would see it.")
]
Server = Annotated[
    str | None,
    typer.Option(help="An episode of the server at this URL, by its id; needs the server's admin token."),
]


@contextmanager
def _at_hand(what: Path, server: str | None, token: str | None) -> Iterator[Path]:
    """Provide the folder to look at: an existing one, or a server's episode between two calls."""
    if server is None:
        yield what
        return
    from mesocosm.hosting.client import connect_sync
    from mesocosm.worlds.archives import unpack

    with tempfile.TemporaryDirectory(prefix="mesocosm-view-") as folder:
        archive = Path(folder) / "episode.tar.gz"
        connect_sync(server, token=token or "").known(str(what)).archive(archive)
        unpack(archive, Path(folder) / "episode")
        yield Path(folder)


@app.command()
def view(
    what: What,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0: any free one.")] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")] = True,
    hide_answers: Hide = False,
    server: Server = None,
    admin_token: AdminToken = None,
    trust: Trust = False,
) -> None:
    """Browse worlds and runs on this machine: services as their products look, evidence, calls, changes,
    reasons for a failure; call tools by hand in a copy.
    """
    import uvicorn

    from mesocosm.evaluation.browser.application import Browser, application, entries_of
    from mesocosm.hosting.server import listen

    trusted_in(trust, what)
    with _at_hand(what, server, admin_token) as path:
        with spinner() as report:
            report("looking for episodes")
            browser = Browser(entries_of(path), answers=not hide_answers)
            if len(browser.entries) == 1:
                report("opening it")
                browser.pages(0)
                browser.work_out(0)
        listener = listen("127.0.0.1", port)
        key = secrets.token_urlsafe(16)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/?key={key}"
        out.print(address)
        out.print("Ctrl-C ends it.")
        if show:
            webbrowser.open(address)
        config = uvicorn.Config(application(browser, key), log_level="warning", lifespan="off")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass  # it has ended what it was doing
        finally:
            browser.close()


@app.command()
def look(
    what: What,
    to: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file (default: look.html in the folder).")
    ] = None,
    pages: Annotated[int, typer.Option(min=1, help="Maximum number of pages.")] = 5_000,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    hide_answers: Hide = False,
    server: Server = None,
    admin_token: AdminToken = None,
    trust: Trust = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print why it failed, as JSON, and write nothing.")
    ] = False,
) -> None:
    """Write the pages of `view` into one file, which needs neither server nor network."""
    from mesocosm.evaluation.browser.export import export
    from mesocosm.worlds.workspace import replace_file

    trusted_in(trust, what)
    with _at_hand(what, server, admin_token) as folder:
        if as_json:
            from mesocosm.evaluation.browser.why import summary

            print_json(summary(folder, answers=not hide_answers))
            return
        with spinner() as report:
            report("writing pages")
            data = export(folder, answers=not hide_answers, most=pages, report=report)
    path = to or (what / "look.html" if server is None else Path("look.html"))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)
    out.print(str(path))
    if show:
        webbrowser.open(path.resolve().as_uri())
