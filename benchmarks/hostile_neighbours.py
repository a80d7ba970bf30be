"""Delay of an episode's calls caused by another episode.

    python benchmarks/hostile_neighbours.py [--neighbours 50] [--seconds 10] [--hosts 2]
        [--only edit_file,...] [--json]

A server is started as a process. So many ordinary episodes call a short tool each, ten times a second; beside
them one hostile episode does one thing as fast as it can, of each kind in turn, from a process of its own. In
the last kinds a dozen hostile episodes hold what statements and formulas are computed in, and ten ordinary
ones ask for a statement, or write a formula, twice a second.

Reported are median and worst time of the ordinary calls, without a hostile episode and beside each kind. The
targets, 50 and 500 ms, hold for a machine with nothing else to do: the lines ``nobody`` and ``nobody again``
say what this one takes by itself, before and after. A line is printed for each kind as it is measured. Exit
code 1 if any was late.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import http.client
import imaplib
import json
import multiprocessing
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from textwrap import dedent
from typing import Any

import httpx2
from wire import listing, tool_call

TASK = "apply_phd_email"
_MORE = ["python_execute", "woocommerce", "excel", "documents", "codehost", "calendar", "canvas"]
_MORE += ["snowflake", "google_cloud"]
"""Services beside those of the task, for the hostile episodes."""
SHEETS = "nhl_b2b_analysis"
"""A task with spreadsheets."""
VERSIONS = "bug_triage"
"""A task with repositories."""
HOSTILE, ASKING = 12, 10
"""Hostile episodes at once, and those beside them, in the kinds that need more than one."""
TOKEN = "benchmark"
_MEDIAN, _WORST = 0.05, 0.5


class Server:
    """A server in a process of its own, with mail ports."""

    def __init__(self, base: str, imap: int, smtp: int) -> None:
        self.base, self.imap, self.smtp = base, imap, smtp

    def create(self, services: list[str], task: str = TASK) -> str:
        """A new episode, with further services."""
        body = json.dumps({"task": task, "length": "16k", "services": services}).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.base}/episodes", body, headers)
        with urllib.request.urlopen(request) as response:
            return str(json.load(response)["id"])


def _request(tool: str, arguments: dict[str, Any]) -> tuple[dict[str, str], bytes]:
    headers, body = tool_call(tool, arguments)
    return headers, json.dumps(body).encode()


class Ordinary:
    """An episode that makes a short call now and then, with as little work for its client as can be."""

    def __init__(
        self, server: Server, episode: str, service: str, tool: str, arguments: dict[str, Any]
    ) -> None:
        self._path = f"/e/{episode}/{service}/mcp"
        self._headers, self._body = _request(tool, arguments)
        self._connection = http.client.HTTPConnection(server.base.removeprefix("http://"), timeout=60)

    def call(self) -> float:
        """Make one call; returns its seconds."""
        started = time.perf_counter()
        try:
            self._connection.request("POST", self._path, self._body, self._headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # A connection that rested may give way to others; a client makes a new one.
            self._connection.close()
            self._connection.request("POST", self._path, self._body, self._headers)
            answer = self._connection.getresponse()
        said = answer.read()
        assert answer.status == 200, said[:500]
        return time.perf_counter() - started


class Agent:
    """A client of one episode."""

    def __init__(self, server: Server, episode: str) -> None:
        self.episode = episode
        self.server = server
        self._url = f"{server.base}/e/{episode}"
        self._client = httpx2.Client(timeout=60)

    def call(self, service: str, tool: str, **arguments: Any) -> str:
        """Make one call; returns what is answered."""
        headers, body = _request(tool, arguments)
        answer = self._client.post(f"{self._url}/{service}/mcp", content=body, headers=headers)
        assert answer.status_code in (200, 413), answer.text[:500]
        return answer.text

    def list_tools(self) -> None:
        """Ask for the tools of all services."""
        headers, body = listing()
        self._client.post(f"{self._url}/mcp", json=body, headers=headers).raise_for_status()

    def request(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> None:
        """Ask a vendor's API for something."""
        pair = base64.b64encode(f"{self.episode}:{self.episode}".encode()).decode()
        scheme = f"Basic {pair}" if path.startswith("/woocommerce") else f"Bearer {self.episode}"
        headers = {"Content-Type": kind, "Authorization": scheme}
        with suppress(httpx2.TransportError):  # who is refused early may find the line closed
            self._client.request(method, self._url + path, content=body, headers=headers)


def _reading(server: Server) -> Ordinary:
    return Ordinary(server, server.create([]), "email", "get_folders", {})


def _asking(server: Server) -> Ordinary:
    query = {"query": "select max(length(repeat('x', 9))) n, uuid_string() u"}
    return Ordinary(server, server.create(["snowflake"]), "snowflake", "read_query", query)


def _computing(server: Server) -> Ordinary:
    episode = server.create([], SHEETS)
    return Ordinary(server, episode, "google_sheet", "update_cells", _cell(Agent(server, episode), "=1+1"))


def _cell(agent: Agent, formula: str) -> dict[str, Any]:
    """Arguments that write a formula into a new spreadsheet."""
    said = agent.call("google_sheet", "create_spreadsheet", title="x")
    book = re.search(r"spreadsheetId\W+([\w-]+)", said)
    assert book, said[:500]
    return {"spreadsheet_id": book[1], "sheet": "Sheet1", "range": "A1", "data": [[formula]]}


@contextmanager
def serving(hosts: int) -> Iterator[Server]:
    """A server on free ports; 0 hosts: one process that does all."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-neighbours-") as folder:
        command = [sys.executable, "-m", "mesocosm", "serve", "--port", "0", "--imap-port", "0"]
        command += ["--smtp-port", "0", *(["--hosts", str(hosts)] if hosts else [])]
        command += ["--admin-token", TOKEN, "--state", f"{folder}/state"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
        try:
            assert process.stderr
            said = ""
            while "imap on" not in said or "smtp on" not in said:
                said += process.stderr.readline()
            threading.Thread(target=process.stderr.read, daemon=True).start()
            base = re.search(r"http://[\d.]+:\d+", said)
            imap, smtp = (re.search(rf"{name} on .*port (\d+)", said) for name in ("imap", "smtp"))
            assert base
            assert imap
            assert smtp
            server = Server(base[0], int(imap[1]), int(smtp[1]))
            for _ in range(600):
                with suppress(OSError):
                    urllib.request.urlopen(f"{server.base}/health").close()
                    break
                time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait()


# -- what hostile episodes do ----------------------------------------------------------------------------

Attack = Callable[[Server, Agent], Callable[[], object]]


def _sql(*statements: str, before: tuple[str, ...] = ()) -> Attack:
    """Statements in GoogleSQL, one after the other."""

    def attack(_: Server, agent: Agent) -> Callable[[], object]:
        def ask(statement: str) -> None:
            agent.call("google_cloud", "bigquery_run_query", query=statement)

        for statement in before:
            ask(statement)

        def every() -> None:
            for statement in statements:
                ask(statement)

        return every

    return attack


def _load(_: Server, agent: Agent) -> Callable[[], object]:
    agent.call("google_cloud", "bigquery_run_query", query="CREATE SCHEMA IF NOT EXISTS shop")
    program = "open('{}.csv', 'w').write('a,b\\n' + '1,x\\n' * {})"
    for name, lines in (("long", 4_000_000), ("fit", 240_000)):
        agent.call("python_execute", "python_execute", code=program.format(name, lines), timeout=20)

    def load() -> None:
        for name in ("long", "fit"):
            given = {"dataset_id": "shop", "table_id": name, "csv_file_path": f"{name}.csv"}
            agent.call("google_cloud", "bigquery_load_csv_data", **given)

    return load


def _packed_loads(_: Server, agent: Agent) -> Callable[[], object]:
    """A packed file that is just not too much, and one that is, for a warehouse."""
    for statement in (
        "create database db",
        "create table db.public.t (x varchar)",
        "create stage db.public.s",
    ):
        agent.call("snowflake", "write_query", query=statement)
    for name, lines in (("fit", 240_000), ("long", 40_000_000)):
        data = gzip.compress(b"a\n" * lines, 9)
        agent.request("PUT", f"/snowflake/stage/s1/files/{name}", data, "application/octet-stream")
    copy = "copy into db.public.t (x) from @db.public.s/{} file_format = (type = csv) force = true"

    def load() -> None:
        for name in ("long", "fit"):
            agent.call("snowflake", "write_query", query=copy.format(name))
        agent.call("snowflake", "write_query", query="truncate table db.public.t")

    return load


_UNFOLDING = r"""
import io, re, zipfile, zlib, openpyxl
openpyxl.Workbook().save(made := io.BytesIO())
sheet = "xl/worksheets/sheet1.xml"
empty = re.compile(b"<sheetData ?/>|<sheetData></sheetData>")

def changed(name, rows, more=b""):
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            data = source.read(part)
            target.writestr(part, empty.sub(lambda _: rows, data) if part == sheet else data)
        if more:
            target.writestr("xl/media/a.bin", more)

shared = b'<row><c><f t="shared" si="0"%s</c></row>'
def rows(data):
    return b"<sheetData>" + data + b"</sheetData>"

formula = b">" + b"A1+" * 2_000 + b"A1</f>"
changed("cells.xlsx", rows((b"<row>" + b"<c><v>1</v></c>" * 100 + b"</row>") * 30_000))
changed("rows.xlsx", rows(b"<row/>" * 1_000_000))
changed("far.xlsx", rows(b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
changed("blank.xlsx", rows(b""), b" " * 60_000_000)
changed("shared.xlsx", rows(shared % formula + shared % b"/>" * 50_000))

def page(name, stream, filters):
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate((
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources"
        b" << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >> >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(stream), filters, stream),
    ), 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(data)
    open(name, "wb").write(data + b"xref\n0 5\n0000000000 65535 f \n" + table + end)

flate = b"/Filter /FlateDecode"
page("blank.pdf", zlib.compress(b" " * 30_000_000), flate)
page("text.pdf", zlib.compress(b"BT /F1 9 Tf " + b"(a) Tj " * 2_000_000 + b"ET"), flate)
page("string.pdf", zlib.compress(b"BT /F1 9 Tf (" + b"a" * 30_000_000 + b") Tj ET"), flate)
page("letters.pdf", b"z" * 20_000_000 + b"~>", b"/Filter /ASCII85Decode")
"""
"""Files that are small, and large when they are read."""


def _unfolding(tool: str, **given: str) -> Attack:
    """Read files that unfold: ``tool`` with its service, and the names of files for its parameters."""

    def attack(_: Server, agent: Agent) -> Callable[[], object]:
        said = agent.call("python_execute", "python_execute", code=_UNFOLDING, timeout=60)
        assert "Return code: 0" in said, said[:2000]
        service, name = tool.split(".", 1)

        def every() -> None:
            for parameter, files in given.items():
                for file in files.split():
                    more = {"sheet_name": "Sheet"} if service == "excel" else {}
                    agent.call(service, name, **{parameter: file}, **more)

        return every

    return attack


def _log_filter(_: Server, agent: Agent) -> Callable[[], object]:
    for _n in range(20):
        entry = {"log_name": "app", "message": "a" * 5_000 + "!"}
        agent.call("google_cloud", "logging_write_log", **entry)

    def every() -> None:
        for one in _PATTERNS:
            agent.call("google_cloud", "logging_read_logs", log_filter=f'textPayload =~ "{one}"')

    return every


_PATTERNS = (
    *("(a|a|aa)*b", "(a+)+b", "(.*a){20}b", "x" * 19_000, "(?:a?){1000}" * 40),
    # Large, of which one is too large; and those that a text takes long for.
    *(r"\\pL" * 50, r"(\\pL?){60}!", "(?:(?:a?){500}a{400}){2}!", "((a{1,10}){1,10}){1,10}b", "a(?:.*z)?"),
)


def _pdf_patterns(_: Server, agent: Agent) -> Callable[[], object]:
    program = """
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
    writer = PdfWriter()
    page = writer.add_blank_page(9, 9)
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Courier"}
    font = DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F"): font})}
    )
    stream = DecodedStreamObject()
    stream.set_data(b"BT /F 9 Tf " + b"(" + b"a" * 90_000 + b") Tj ET")
    page[NameObject("/Contents")] = writer._add_object(stream)
    writer.write("long.pdf")
    """
    agent.call("python_execute", "python_execute", code=dedent(program), timeout=20)

    def every() -> None:
        for one in _PATTERNS:
            agent.call(
                "pdf_tools", "search_pdf_content", pdf_file_path="long.pdf", pattern=one.replace("\\\\", "\\")
            )

    return every


def _formulas(server: Server, _: Agent) -> Callable[[], object]:
    agent = Agent(server, server.create([], SHEETS))
    cell = _cell(agent, "")
    long = 'REPT("a", 30000)'
    texts = [
        *(
            f'=REGEXMATCH({long}, "{one}")'
            for one in ("(a|a|aa)*b", "(a{1,10}){1,10}b", "(?:a?){999}a{999}b")
        ),
        f'=LEN(REGEXREPLACE({long}, "a(?:.*z)?", "b"))',
        f"=QUERY({{{long}}}, \"select Col1 where Col1 like '%{'a%' * 20}b'\")",
        f"=QUERY({{{long}}}, \"select Col1 where Col1 matches '(a{{1,10}}){{1,10}}b'\")",
    ]

    def every() -> None:
        for one in texts:
            agent.call("google_sheet", "update_cells", **cell | {"data": [[one]]})

    return every


def _all_at_once(agents: list[Agent], act: Callable[[Agent], object]) -> Callable[[], object]:
    """Make several agents act, each again as soon as it is answered."""
    pool = ThreadPoolExecutor(len(agents))
    running = {agent: pool.submit(act, agent) for agent in agents}

    def again() -> None:
        time.sleep(0.05)
        for agent, one in running.items():
            if one.done():
                one.result()
                running[agent] = pool.submit(act, agent)

    return again


def _many_statements(server: Server, _: Agent) -> Callable[[], object]:
    return _all_at_once(
        [Agent(server, server.create(["snowflake"])) for _ in range(HOSTILE)],
        lambda agent: agent.call("snowflake", "read_query", query=_ENDLESS.lower()),
    )


def _many_formulas(server: Server, _: Agent) -> Callable[[], object]:
    agents = [Agent(server, server.create([], SHEETS)) for _ in range(HOSTILE)]
    formula = "=" + "+".join(['LEN(REGEXREPLACE(REPT("a",32000),"a(?:.*z)?","b"))'] * 50)
    cells = {agent: _cell(agent, formula) for agent in agents}
    return _all_at_once(agents, lambda agent: agent.call("google_sheet", "update_cells", **cells[agent]))


def _show_like(_: Server, agent: Agent) -> Callable[[], object]:
    for statement in ("create database d", "create schema d.s", f"create table d.s.{'a' * 250} (x int)"):
        agent.call("snowflake", "write_query", query=statement)
    like = "a%" * 120
    return lambda: agent.call("snowflake", "read_query", query=f"show tables like '%{like}b' in schema d.s")


_VIEWS = (
    "CREATE SCHEMA IF NOT EXISTS shop",
    "CREATE OR REPLACE VIEW shop.v0 AS SELECT 1 AS x",
    *(
        f"CREATE OR REPLACE VIEW shop.v{n} AS SELECT a.x FROM shop.v{n - 1} a JOIN shop.v{n - 1} b USING (x)"
        for n in range(1, 14)
    ),
)
_ARRAY = "GENERATE_ARRAY(1, 9000000)"
_ENDLESS = "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"


def _edit(_: Server, agent: Agent) -> Callable[[], object]:
    before = "\n".join("abcdefghijklmnopqrst"[n * 7 % 20] for n in range(1000))
    after = "\n".join("abcdefghijklmnopqrst"[n * n % 20] for n in range(1000))
    agent.call("filesystem", "write_file", path="lines.txt", content=before)
    edits = [{"oldText": before, "newText": after}]
    return lambda: agent.call("filesystem", "edit_file", path="lines.txt", edits=edits, dryRun=True)


def _versions(server: Server, _: Agent) -> Callable[[], object]:
    """Two versions of a file in a repository, of which any line is many of the other's."""
    agent = Agent(server, server.create([], VERSIONS))
    me = re.search(r'\\?"login\\?":\s*\\?"([\w-]+)', agent.call("codehost", "get_me"))
    assert me
    there = {"owner": me[1], "repo": "versions"}
    agent.call("codehost", "create_repository", name="versions", autoInit=True)
    for factor in (7, 11):
        text = "".join(f"{n * factor % 300}\n" for n in range(110_000))
        files = [{"path": "a.txt", "content": text}]
        said = agent.call("codehost", "push_files", **there, branch="main", files=files, message="x")
        assert '"isError":true' not in said, said[:500]
    return lambda: agent.call("codehost", "get_commit", **there, sha="main", detail="full_patch")


def _search(_: Server, agent: Agent) -> Callable[[], object]:
    for number in range(40):
        folder = "/".join(["deep"] * 20 + [str(number)])
        agent.call("filesystem", "create_directory", path=folder)
    excluded = [f"*{chr(97 + n % 26)}*a*b*{n}*" for n in range(500)]
    return lambda: agent.call(
        "filesystem", "search_files", path=".", pattern="{a,b,c}" * 4 + "**/*x*y*", excludePatterns=excluded
    )


def _write(_: Server, agent: Agent) -> Callable[[], object]:
    text = "x" * 2_000_000
    return lambda: agent.call("filesystem", "write_file", path="large.txt", content=text)


def _remember(_: Server, agent: Agent) -> Callable[[], object]:
    names = [f"entity {n}" for n in range(3000)]
    entities = [{"name": name, "entityType": "thing", "observations": ["a", "b"]} for name in names]

    def round_trip() -> None:
        agent.call("memory", "create_entities", entities=entities)
        agent.call("memory", "delete_entities", entityNames=names)

    return round_trip


def _forget(_: Server, agent: Agent) -> Callable[[], object]:
    names = [f"entity {n}" for n in range(3000)]
    entities = [{"name": name, "entityType": "thing", "observations": ["a"]} for name in names]
    agent.call("memory", "create_entities", entities=entities)
    relations = [{"from": name, "to": names[n - 1], "relationType": "of"} for n, name in enumerate(names)]
    agent.call("memory", "create_relations", relations=relations)
    missing = [f"{name}?" for name in names] * 5
    return lambda: agent.call("memory", "delete_entities", entityNames=missing)


def _code(program: str) -> Attack:
    def attack(_: Server, agent: Agent) -> Callable[[], object]:
        return lambda: agent.call("python_execute", "python_execute", code=program, timeout=5)

    return attack


def _large_call(_: Server, agent: Agent) -> Callable[[], object]:
    edits = [{"oldText": str(n), "newText": "y"} for n in range(90_000)]
    return lambda: agent.call("filesystem", "edit_file", path="none.txt", edits=edits)


def _deep_call(_: Server, agent: Agent) -> Callable[[], object]:
    nested: Any = []
    for _n in range(300):
        nested = [nested] * 1
    return lambda: agent.call("memory", "create_entities", entities=[nested] * 2000)


def _rest(method: str, path: str, body: bytes = b"", kind: str = "application/json") -> Attack:
    return lambda _, agent: lambda: agent.request(method, path, body, kind)


def _form(fields: int) -> bytes:
    return "&".join(f"meta_data[{n}][key]=a{n}" for n in range(fields)).encode()


def _sheet(_: Server, agent: Agent) -> Callable[[], object]:
    agent.call("excel", "create_workbook", filepath="book.xlsx")
    rows = [[f"cell {n} {m}" for m in range(20)] for n in range(2000)]
    return lambda: agent.call(
        "excel", "write_data_to_excel", filepath="book.xlsx", sheet_name="Sheet", data=rows
    )


def _query(_: Server, agent: Agent) -> Callable[[], object]:
    return lambda: agent.call("email", "search_emails", query=" ".join(["e"] * 300))


def _send(_: Server, agent: Agent) -> Callable[[], object]:
    html = "<div>" * 60_000
    return lambda: agent.call(
        "email", "send_email", to="a@example.org", subject="x", body="x", html_body=html
    )


def _line(line: bytes) -> Attack:
    def attack(server: Server, _: Agent) -> Callable[[], object]:
        def send() -> None:
            with socket.create_connection(("127.0.0.1", server.imap)) as client:
                client.settimeout(5)
                client.sendall(line + b"\r\na LOGOUT\r\n")
                with suppress(TimeoutError):
                    while client.recv(4096):
                        pass

        return send

    return attack


def _ahead(lines: Callable[[str], bytes], port: Callable[[Server], int], clients: int = 1) -> Attack:
    """Thousands of commands in one piece, whose answers nobody waits for; of several clients at once."""

    def attack(server: Server, agent: Agent) -> Callable[[], object]:
        sent = lines(agent.episode)

        def send(_: int = 0) -> None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port(server))) as client:
                client.settimeout(20)
                threading.Thread(target=_drain, args=(client,), daemon=True).start()
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                time.sleep(1)

        def all_at_once() -> None:
            with ThreadPoolExecutor(clients) as pool:
                list(pool.map(send, range(clients)))

        return all_at_once

    return attack


def _drain(client: socket.socket) -> None:
    with suppress(OSError):
        while client.recv(65_536):
            pass


def _imap_signed_in(episode: str) -> bytes:
    return f"a LOGIN {episode} {episode}\r\n".encode() + b"a NOOP\r\n" * 50_000


def _smtp_signed_in(episode: str) -> bytes:
    plain = base64.b64encode(f"\0{episode}\0{episode}".encode())
    return b"EHLO x\r\nAUTH PLAIN " + plain + b"\r\n" + b"NOOP\r\n" * 50_000


def _http(path: str) -> Callable[[str], bytes]:
    return lambda episode: f"GET {path.format(episode)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 20_000


def _http_port(server: Server) -> int:
    return int(server.base.rpartition(":")[2])


_FOLDERS = """
import os
for n in range(900):
    os.makedirs(f"a/{n}", exist_ok=True)
    for m in range(100):
        os.mkdir(f"a/{n}/{m}")
"""


def _many_folders(act: str) -> Attack:
    """90,000 folders, and what copies or removes them all."""

    def attack(server: Server, agent: Agent) -> Callable[[], object]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        base = f"{server.base}/episodes/{agent.episode}"

        def ask(path: str, method: str = "POST") -> Any:
            request = urllib.request.Request(base + path, b"", headers, method=method)
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read() or b"null")

        def again() -> None:
            agent.call("python_execute", "python_execute", code=_FOLDERS, timeout=60)
            ask(act)

        return again

    return attack


def _connections(server: Server, _: Agent) -> Callable[[], object]:
    def connect() -> None:
        with socket.create_connection(("127.0.0.1", server.imap)) as client:
            client.recv(4096)

    return connect


def _mailbox(act: Callable[[imaplib.IMAP4], object]) -> Attack:
    def attack(server: Server, agent: Agent) -> Callable[[], object]:
        client = imaplib.IMAP4("127.0.0.1", server.imap)
        client.login(agent.episode, agent.episode)
        client.select("INBOX")
        return lambda: act(client)

    return attack


def _long_message(server: Server, agent: Agent) -> Callable[[], object]:
    _append(_LONG)(server, agent)()
    return _mailbox(lambda client: client.fetch("*", "(BODYSTRUCTURE)"))(server, agent)


def _append(message: bytes) -> Attack:
    return _mailbox(lambda client: client.append("INBOX", None, None, message))


def _offer(_: Server, agent: Agent) -> Callable[[], object]:
    return agent.list_tools


def _half_open(server: Server, _: Agent) -> Callable[[], object]:
    held: list[socket.socket] = []
    port = int(server.base.rpartition(":")[2])

    def connect() -> None:
        if len(held) < 1000:
            held.append(socket.create_connection(("127.0.0.1", port)))
            held[-1].sendall(b"POST /e/x HTTP/1.1\r\nHost:")
        else:
            held.pop(0).close()

    return connect


def _headers(server: Server, _: Agent) -> Callable[[], object]:
    port = int(server.base.rpartition(":")[2])

    def send() -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)))

    return send


def _grade(server: Server, agent: Agent) -> Callable[[], object]:
    request = urllib.request.Request(
        f"{server.base}/episodes/{agent.episode}/grade", b"", {"Authorization": f"Bearer {TOKEN}"}
    )
    return lambda: urllib.request.urlopen(request).close()


_OBJECT = json.dumps(
    {"name": "x", "meta_data": [{"key": str(n), "value": n} for n in range(300_000)]}
).encode()
_LIST = json.dumps({"create": [{"name": str(n)} for n in range(500_000)]}).encode()
_TEXT = json.dumps({"title": "x", "text": "\u00e9 <b>" * 4_000_000}).encode()
_GRAPH = json.dumps({"query": "{" + "viewer{repositories(first:1){nodes{name}}}" * 1_500 + "}"}).encode()
_LONG = b"Subject: x\r\n\r\n" + b"z\r\n" * 1_600_000
_CHARSET = (
    b"Subject: x\r\nContent-Type: text/plain; charset=punycode\r\nContent-Transfer-Encoding: base64\r\n\r\n"
)
_PARTS = b"Subject: x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
ATTACKS: dict[str, Attack] = {
    "edit_file": _edit,
    "search_files": _search,
    "versions": _versions,
    "write_file": _write,
    "memory": _remember,
    "delete_entities": _forget,
    "busy program": _code("while True: pass"),
    "many programs": _code("pass"),
    "talking program": _code("while True: print('x' * 1000)"),
    "large call": _large_call,
    "deep call": _deep_call,
    "SQL arrays": _sql(f"SELECT {_ARRAY} a, {_ARRAY} b, {_ARRAY} c"),
    "SQL texts": _sql(
        "SELECT LENGTH(REPEAT('x', 16000000 + x)) FROM UNNEST(GENERATE_ARRAY(1, 2048)) x",
        "SELECT REPEAT('x', 16000000) a, REPEAT('y', 16000000) b",
    ),
    "SQL rows": _sql(
        "CREATE OR REPLACE TABLE shop.made AS SELECT x, x y FROM UNNEST(GENERATE_ARRAY(1, 2000000)) x",
        before=("CREATE SCHEMA IF NOT EXISTS shop",),
    ),
    "SQL without end": _sql(_ENDLESS),
    "SQL text": _sql(f"SELECT 1 IN ({', '.join(map(str, range(19_000)))})"),
    "views of views": _sql("SELECT COUNT(*) FROM shop.v13", before=_VIEWS),
    "load": _load,
    "packed loads": _packed_loads,
    "workbooks": _unfolding(
        "excel.read_data_from_excel", filepath="cells.xlsx rows.xlsx far.xlsx blank.xlsx shared.xlsx"
    ),
    "PDF files": _unfolding(
        "pdf_tools.read_pdf_pages", pdf_file_path="blank.pdf text.pdf string.pdf letters.pdf"
    ),
    "log filters": _log_filter,
    "pdf patterns": _pdf_patterns,
    "formulas": _formulas,
    "SHOW LIKE": _show_like,
    "SQL patterns": _sql(
        "SELECT REGEXP_CONTAINS(REPEAT('a', 4000000), r'(?:(?:a?){500}a{400}){2}!')",
        "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 100000), 'a(?:.*z)?', 'b'))",
    ),
    "workbook": _sheet,
    "REST object": _rest("POST", "/woocommerce/wp-json/wc/v3/products", _OBJECT),
    "REST list": _rest("POST", "/woocommerce/wp-json/wc/v3/products/batch", _LIST),
    "REST text": _rest("POST", "/documents/v1/documents", _TEXT),
    "REST form": _rest(
        "POST", "/woocommerce/wp-json/wc/v3/products", _form(200_000), "application/x-www-form-urlencoded"
    ),
    "REST query": _rest("GET", "/canvas/api/v1/courses?" + "&".join(f"a[{n}]=b" for n in range(5000))),
    "REST parts": _rest(
        "POST",
        "/canvas/api/v1/courses",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' * 100_000 + b"--x--\r\n",
        "multipart/form-data; boundary=x",
    ),
    "GraphQL": _rest("POST", "/codehost/api/graphql", _GRAPH),
    "git": _rest(
        "POST",
        "/codehost/acme/app.git/git-receive-pack",
        b"0000PACK" + b"\0" * 30_000_000,
        "application/x-git-receive-pack-request",
    ),
    "search_emails": _query,
    "send_email": _send,
    "imap name": _line(b'a SELECT "R&D"'),
    "imap list": _line(b'a LIST "" "*a*a*a*a*a*a*a*b"'),
    "imap fetch": _mailbox(lambda client: client.fetch("1:*", "(BODY.PEEK[] BODYSTRUCTURE ENVELOPE)")),
    "imap structure": _long_message,
    "imap append": _append(_LONG),
    "imap headers": _append(b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\nz"),
    "imap parts": _append(_PARTS + b"--x\r\n\r\na\r\n" * 20_000 + b"--x--\r\n"),
    "imap charset": _append(
        _CHARSET + base64.encodebytes(b"-" + b"a9" * 3_000_000)  # in Punycode, the square of its length
    ),
    "imap ahead": _ahead(lambda _: b"a NOOP\r\n" * 50_000, lambda server: server.imap),
    "imap ahead 20": _ahead(lambda _: b"a NOOP\r\n" * 50_000, lambda server: server.imap, 20),
    "imap signed in": _ahead(_imap_signed_in, lambda server: server.imap, 5),
    "smtp ahead": _ahead(lambda _: b"EHLO x\r\n" + b"NOOP\r\n" * 50_000, lambda server: server.smtp, 20),
    "smtp signed in": _ahead(_smtp_signed_in, lambda server: server.smtp, 5),
    "http ahead": _ahead(_http("/health"), _http_port, 5),
    "http ahead mcp": _ahead(_http("/e/{}/email/mcp"), _http_port, 5),
    "reset folders": _many_folders("/reset"),
    "fork folders": _many_folders("/fork"),
    "grade folders": _many_folders("/grade"),
    "connections": _connections,
    "tools/list": _offer,
    "half-open": _half_open,
    "headers": _headers,
    "grading": _grade,
    "many statements": _many_statements,
    "many formulas": _many_formulas,
}
NEIGHBOURS: dict[str, Callable[[Server], Ordinary]] = {
    "many statements": _asking,
    "many formulas": _computing,
}
"""Who is measured beside attacks that others feel than those who read their mail."""


def measure(agents: list[Ordinary], seconds: float, pause: float = 0.1) -> list[float]:
    """Seconds of the ordinary calls, of which each makes one in so many seconds."""
    end = time.perf_counter() + seconds

    def act(number: int) -> list[float]:
        taken = []
        time.sleep(pause * number / len(agents))
        while time.perf_counter() < end:
            taken.append(agents[number].call())
            time.sleep(max(0.0, pause - taken[-1]))
        return taken

    with ThreadPoolExecutor(len(agents)) as pool:
        return [taken for each in pool.map(act, range(len(agents))) for taken in each]


def _attack(name: str, server: Server, episode: str, stop: Any, began: Any, made: Any) -> None:
    """Run the hostile episode's process; in the same one its work would delay the clocks."""
    act = ATTACKS[name](server, Agent(server, episode))
    began.set()
    while not stop.is_set():
        act()
        made.value += 1


def beside(
    server: Server, name: str, agents: list[Ordinary], seconds: float, pause: float
) -> tuple[list[float], int]:
    """Seconds of the ordinary calls beside an attack, and how often it was made."""
    processes = multiprocessing.get_context("spawn")
    stop, began, made = processes.Event(), processes.Event(), processes.Value("i", 0)
    hostile = processes.Process(
        target=_attack, args=(name, server, server.create(_MORE), stop, began, made), daemon=True
    )
    hostile.start()
    began.wait(60)
    taken = measure(agents, seconds, pause)
    stop.set()
    hostile.join(60)
    return taken, made.value


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--neighbours", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hosts", type=int, default=0, help="hosts behind a door (0: one process)")
    parser.add_argument("--only", default="", help=f"some of {','.join(ATTACKS)}")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server ends, too
    chosen = [name for name in ATTACKS if not options.only or name in options.only.split(",")]
    rows: dict[str, dict[str, float]] = {}
    with serving(options.hosts) as server:
        agents = [_reading(server) for _ in range(options.neighbours)]
        measure(agents, 1)
        print(f"{'beside':<16}{'attacks':>8}{'calls':>8}{'median ms':>11}{'worst ms':>10}", file=sys.stderr)
        rows["nobody"] = _row("nobody", measure(agents, options.seconds), 0)
        for name in chosen:
            others, pause = agents, 0.1
            if name in NEIGHBOURS:
                others, pause = [NEIGHBOURS[name](server) for _ in range(ASKING)], 0.5
                measure(others, 1, pause)
                alone = f"beside {name}, nobody"
                rows[alone] = _row("nobody", measure(others, options.seconds, pause), 0)
            rows[name] = _row(name, *beside(server, name, others, options.seconds, pause))
        rows["nobody again"] = _row("nobody again", measure(agents, options.seconds), 0)
    if options.json:
        print(json.dumps(rows))
    return 1 if any(row["median"] > _MEDIAN or row["worst"] > _WORST for row in rows.values()) else 0


def _row(name: str, taken: list[float], attacks: int) -> dict[str, float]:
    row = {
        "attacks": attacks,
        "calls": len(taken),
        "median": statistics.median(taken),
        "worst": max(taken),
    }
    late = "" if row["median"] <= _MEDIAN and row["worst"] <= _WORST else "  LATE"
    print(
        f"{name:<16}{row['attacks']:>8.0f}{row['calls']:>8.0f}{1000 * row['median']:>11.1f}"
        f"{1000 * row['worst']:>10.1f}{late}",
        file=sys.stderr,
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
