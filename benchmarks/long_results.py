"""List of tools that can return 25,000 tokens and more at once, so that their descriptions say so.

python benchmarks/long_results.py [--size 400000]

Every service is filled with so many tokens, and its reading tools are asked what ``benchmarks/services.py``
asks them, each call also with as many things on a page as may be, and with nothing that narrows it down.
Files, a message and a commit are long ones. Reported are the tools whose longest result has 25,000 tokens
(cl100k_base) or whose description says that it may; exit code 1 if one that has does not say it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fills.texts import Call, Texts

from mesocosm.servers.pdf_tools.store.pdf_writer import write_pdf
from mesocosm.services.content import service_names
from mesocosm.services.service import LONG, Tool, load_service
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.manifest import Manifest

_PAGING = ("per_page", "perPage", "page_size", "max_results", "maxResults", "max_entries", "limit")
LIMIT = 25_000
FILLED = (
    *("email", "calendar", "canvas", "woocommerce", "documents", "codehost"),
    *("google_cloud", "google_sheet", "snowflake"),
)
_MOST = (100_000, 50_000, 10_000, 2_500, 1_000, 500, 100, 50, 20)
_LINES = 20_000
"""Of a file, a table, a workbook."""


def variants(tool: Tool, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The call as it is, and as wide as it may be."""
    yield arguments
    properties, required = tool.signature.schema["properties"], tool.signature.schema["required"]
    bare = {name: arguments[name] for name in required if name in arguments}
    yield bare
    for name in _PAGING:
        if name in properties:
            yield from ({**one, name: most} for one in (bare, arguments) for most in _MOST)


def files(world: World) -> dict[str, list[Call]]:
    """Return what services of files are asked, once their files are there."""
    text = "".join(f"{n} and what line {n} says\n" for n in range(_LINES))
    most = text[:99_000]  # files of more are read in parts
    world.workspace.write("long.txt", most.encode())
    for n in range(3_000):
        world.workspace.write(
            f"many/a_file_of_some_name_{n:04}.txt", text[:40_000].encode() if n < 20 else b"x"
        )
    rows = [[f"Name {n}", n, n * 1.5, f"2024-01-{1 + n % 28:02}"] for n in range(_LINES)]
    book = {"filepath": "book.xlsx"}
    for tool, arguments in (
        ("create_workbook", book),
        ("write_data_to_excel", {**book, "sheet_name": "Sheet1", "data": rows[:8_000]}),
    ):
        outcome = world.call("excel", tool, arguments)
        assert outcome.status == "ok", outcome.text[:200]
    pages = [text[n * 3_000 : (n + 1) * 3_000].rpartition("\n")[0] for n in range(300)]
    pages = ["  ".join(page.splitlines()) for page in pages]
    world.workspace.write("long.pdf", write_pdf(pages, moment=world.now))
    for n in range(200):
        entity = {"name": f"Person {n}", "entityType": "person", "observations": [text[:1_000]] * 3}
        world.call("memory", "create_entities", {"entities": [entity]})
    names = [f"Person {n}" for n in range(100)]
    world.call("memory_tool", "create", {"path": "/memories/long.txt", "file_text": most[:70_000]})
    many = [f"many/a_file_of_some_name_{n:04}.txt" for n in range(20)]
    return {
        "filesystem": [
            *((tool, {"path": "long.txt"}) for tool in ("read_file", "read_text_file", "get_file_info")),
            *(
                (tool, {"path": "many"})
                for tool in ("list_directory", "list_directory_with_sizes", "directory_tree")
            ),
            ("search_files", {"path": ".", "pattern": "**/*.txt"}),
            ("read_multiple_files", {"paths": many}),
        ],
        "excel": [
            ("read_data_from_excel", {**book, "sheet_name": "Sheet1", "start_cell": "A1"}),
            ("get_workbook_metadata", {**book, "include_ranges": True}),
        ],
        "pdf_tools": [
            ("read_pdf_pages", {"pdf_file_path": "long.pdf", "start_page": 1, "end_page": 30}),
            ("search_pdf_content", {"pdf_file_path": "long.pdf", "pattern": "line .*", "page_size": 50}),
        ],
        "memory": [
            ("read_graph", {}),
            ("search_nodes", {"query": "line"}),
            ("open_nodes", {"names": names}),
        ],
        "memory_tool": [("view", {"path": "/memories/long.txt"})],
        "terminal": [("run_command", {"command": "cat long.txt"})],
        "python_execute": [("python_execute", {"code": "print(open('long.txt').read())"})],
    }


def measure(world: World, service: str, calls: list[Call]) -> dict[str, int]:
    """Tokens of each tool's longest result."""
    longest: dict[str, int] = {}
    for name, arguments in calls:
        tool = load_service(service).tools[name]
        for given in variants(tool, arguments) if not tool.writes else [arguments]:
            outcome = world.call(service, name, given)
            if outcome.status == "ok" and len(outcome.text) > longest.get(name, 0):
                longest[name] = max(longest.get(name, 0), tokens.count(outcome.text))
    return longest


def long_texts(world: World) -> dict[str, list[Call]]:
    """Texts that people write long, a wide sheet, and what shows them."""
    text = "".join(f"{n} and what line {n} says\n" for n in range(4_000))
    home, file = {"owner": "acme", "repo": "app"}, {"path": "long.txt", "content": text, "message": "Long"}
    sheet = {"sheet": "Sheet1", "range": "A1:T500"}
    cells = [[row * 1_000 + column + 0.25 for column in range(20)] for row in range(500)]

    def make(service: str, tool: str, **arguments: Any) -> Any:
        outcome = world.call(service, tool, arguments)
        assert outcome.status == "ok", outcome.text[:500]
        return json.loads(outcome.text)

    mail = make("email", "send_email", to="ann@mcp.com", subject="Long", body=text)["id"]
    document = {"file_id": make("documents", "create_document", title="Long", content=text)["id"]}
    sheet["spreadsheet_id"] = book = make("google_sheet", "create_spreadsheet", title="Wide")["spreadsheetId"]
    make("google_sheet", "update_cells", **sheet, data=cells)
    make("codehost", "create_branch", **home, branch="long", from_branch="main")
    make("codehost", "create_or_update_file", **home, **file, branch="long")
    pull = make("codehost", "create_pull_request", **home, title="Long", head="long", base="main")
    number = int(str(pull["url"]).rpartition("/")[2])
    read = {"limit": 100_000}
    return {
        **{name: [] for name in FILLED},
        "email": [("read_email", {"email_id": mail}), ("search_emails", {"query": "subject:Long"})],
        "documents": [
            ("read_document", {**document, **read}),
            ("read_version", {**document, **read, "version": 1}),
        ],
        "google_sheet": [
            ("get_sheet_data", sheet),
            ("get_sheet_formulas", sheet),
            ("get_multiple_sheet_data", {"queries": [sheet]}),
            ("get_multiple_spreadsheet_summary", {"spreadsheet_ids": [book], "rows_to_fetch": 100}),
        ],
        "codehost": [
            ("get_file_contents", {**home, "path": "long.txt", "ref": "long"}),
            ("get_commit", {**home, "sha": "long", "detail": "full_patch"}),
            ("pull_request_read", {**home, "pullNumber": number, "method": "get_diff"}),
        ],
    }


def world_of(folder: Path, size: int) -> tuple[World, dict[str, list[Call]]]:
    """A world with all services that have tools for reading, and what each is asked."""
    offered = [name for name in service_names() if name not in ("oracle", "claim_done", "submit_answer")]
    world, calls = World.create(folder / "world", Manifest(services=dict.fromkeys(offered))), {}
    for service in FILLED:
        calls[service] = importlib.import_module(f"fills.{service}").fill(world, Texts(), size)
    calls["google_cloud"].append(
        ("bigquery_run_query", {"query": "SELECT * FROM shop.items", "max_results": 10_000})
    )
    calls["snowflake"].append(("read_query", {"query": "select * from shop.public.items"}))
    world.finish_building()
    others = files(world)
    return world, others | {name: [*calls[name], *more] for name, more in long_texts(world).items()}


def main() -> int:
    """Fill, call, report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=400_000, help="tokens of each service")
    options = parser.parse_args()
    unsaid = 0
    with tempfile.TemporaryDirectory() as folder:
        world, calls = world_of(Path(folder), options.size)
        for service, asked in calls.items():
            for name, most in sorted(measure(world, service, asked).items(), key=lambda one: -one[1]):
                said = LONG in load_service(service).tools[name].description
                if most >= LIMIT or said:
                    print(f"{service + '.' + name:45} {most:>9,}{'' if said else '   not said'}", flush=True)
                    unsaid += not said
        world.close()
    return 1 if unsaid else 0


if __name__ == "__main__":
    raise SystemExit(main())
