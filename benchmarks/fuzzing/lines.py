"""Lines to the mail ports of a server that has one episode, whose mailbox they are about."""

from __future__ import annotations

import base64
import logging
import socket
import traceback
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from fuzzing.inputs import Inputs
from mesocosm.doors.mail.ports import MailServers
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import listen, serving
from mesocosm.services.calls import Outcome

ME = "ann@mcp.com"
_IMAP = [
    "SELECT {f}",
    "EXAMINE {f}",
    "FETCH {s} {i}",
    "UID FETCH {s} {i}",
    "STORE {s} +FLAGS (\\Seen)",
    "STORE {s} FLAGS {t}",
    "UID STORE {s} -FLAGS.SILENT (\\Deleted)",
    "SEARCH {k}",
    "UID SEARCH {k} {k}",
    "SEARCH OR {k} NOT {k}",
    "COPY {s} {f}",
    "UID MOVE {s} {f}",
    'LIST "" {f}',
    "LSUB {f} {f}",
    "STATUS {f} (MESSAGES UIDNEXT)",
    "CREATE {f}",
    "DELETE {f}",
    "RENAME {f} {f}",
    "EXPUNGE",
    "UID EXPUNGE {s}",
    "CLOSE",
    "NOOP",
    "CHECK",
    "CAPABILITY",
    "APPEND {f} {t}",
    "APPEND {f} (\\Seen) {l}",
    "APPEND {f} {l}",
    "SELECT INBOX",
    "IDLE",
    "DONE",
    "{t}",
    "SUBSCRIBE {f}",
    "NAMESPACE",
    "ID NIL",
    "ENABLE {t}",
    "LOGIN {t} {t}",
    "AUTHENTICATE PLAIN {t}",
]
_SMTP = [
    "EHLO {t}",
    "HELO x",
    "MAIL FROM:<ann@mcp.com>",
    "MAIL FROM:<{t}> SIZE=9",
    "RCPT TO:<person1@mcp.com>",
    "RCPT TO:<{t}>",
    "DATA\f{t}\r\n.",
    "MAIL FROM:<ann@mcp.com>\fRCPT TO:<person1@mcp.com>\fDATA\fSubject: {t}\r\n\r\n{t}\r\n.",
    "MAIL FROM:<ann@mcp.com>\fRCPT TO:<person2@mcp.com>\fRCPT TO:<{t}>\fDATA\fFrom: {t}\r\nContent-Type: {t}"
    "\r\nTo: {t}\r\nDate: {t}\r\n\r\n{t}\r\n.",
    "RSET\fMAIL FROM:<>\fRCPT TO:<person1@mcp.com>\fDATA\fContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    "--b\r\nContent-Transfer-Encoding: base64\r\n\r\n{t}\r\n--b--\r\n.",
    "RSET",
    "NOOP",
    "VRFY {t}",
    "AUTH PLAIN {t}",
    "AUTH LOGIN {t}",
    "{t}",
    "BDAT 5",
    "HELP {t}",
    "EXPN x",
    "STARTTLS",
    ".",
]
_KEYS = [
    "ALL",
    "SUBJECT {t}",
    "FROM {t}",
    "BODY {t}",
    "TEXT {t}",
    "SINCE 1-Jan-2025",
    "BEFORE {t}",
    "LARGER {n}",
    "UID {s}",
    "{s}",
    "HEADER {t} {t}",
    "KEYWORD {t}",
    "CHARSET utf-8 TEXT {t}",
    "OR SEEN UNSEEN",
    "({k})",
    "NOT ({k} {k})",
]
_ITEMS = [
    "ALL",
    "FULL",
    "(FLAGS UID)",
    "BODY[]",
    "BODY.PEEK[HEADER.FIELDS (To {t})]",
    "BODY[1.2.MIME]",
    "RFC822.SIZE",
    "ENVELOPE",
    "BODYSTRUCTURE",
    "BODY[]<{n}.{n}>",
    "BODY[TEXT]",
    "(BODY[1] INTERNALDATE)",
    "{t}",
    "BODY[{n}]",
    "RFC822.HEADER",
]
_SETS = [
    "1",
    "1:*",
    "*",
    "*:1",
    "0",
    "4294967295",
    "1,2,3:4",
    "99999999999999999999",
    "{n}:{n}",
    "1:4294967295",
]
_FOLDERS = [
    "INBOX",
    "Sent",
    "Trash",
    '"R&D"',
    "&AAA&",
    "*",
    "%",
    '"*a*a*a*a*b"',
    "{t}",
    '"Archive"',
    "&2AA-",
    "inbox",
]


class _Log(logging.Handler):
    """Lines that the doors could not parse or answer."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.misread: Counter[str] = Counter()
        """Exceptions of the protocols' libraries, by type; they say so to the client."""
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            raised = record.exc_info and record.exc_info[1]
            lines = traceback.format_exception(raised) if raised else [record.getMessage()]
            self.faults.append("".join(lines))
        else:
            self.misread[record.getMessage().partition(": ")[2].partition("(")[0][:60]] += 1


class MailSession:
    """A client of both protocols, which signs in again whenever it is shown the door."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._sockets: dict[str, socket.socket] = {}
        self._pending: list[bytes] = []
        self._count = 0
        self.log = _Log()

    def __enter__(self) -> Self:
        self._app = Hosting(self._folder / "state", admin_token="token")
        for name in ("expected.json", "prompt.md"):
            (self._folder / name).write_text("{}")
        family: Any = SimpleNamespace(
            name="fuzz", path=Path("tasks/fuzz.yaml"), task=SimpleNamespace(servers={"email": None})
        )
        self._id = self._app.pool.adopt(self._folder, family)
        mail = MailServers.of(self._app.pool, imap=listen("127.0.0.1", 0), smtp=listen("127.0.0.1", 0))
        self._stack.enter_context(serving(self._app, mail))
        for name in ("mesocosm", "asyncio", "uvicorn"):
            logging.getLogger(name).addHandler(self.log)
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("mesocosm", "asyncio", "uvicorn"):
            logging.getLogger(name).removeHandler(self.log)
        for connection in self._sockets.values():
            connection.close()
        self._stack.close()

    def line(self, inputs: Inputs) -> tuple[str, bytes]:
        """Protocol and line."""
        inputs.of("email")
        if self._pending:
            return "smtp", self._pending.pop(0)
        protocol = "imap" if inputs.dice.random() < 0.7 else "smtp"
        text = self._fill(inputs.dice.choice(_IMAP if protocol == "imap" else _SMTP), inputs, protocol)
        # Lines of one message belong together; what follows DATA is sent at once.
        line, *self._pending = text.encode().split(b"\f") if protocol == "smtp" else [text.encode()]
        return protocol, line

    def _fill(self, text: str, inputs: Inputs, protocol: str) -> str:
        for _ in range(40):
            at = text.find("{")
            if at < 0 or text[at + 2 : at + 3] != "}":
                break
            text = text[:at] + self._part(text[at + 1], inputs, protocol) + text[at + 3 :]
        return text[:20_000].encode("utf-8", "replace").decode()

    def _part(self, kind: str, inputs: Inputs, protocol: str) -> str:
        pick = inputs.dice.choice
        match kind:
            case "f":
                return pick(_FOLDERS)
            case "s":
                return pick(_SETS)
            case "i":
                return pick(_ITEMS)
            case "k":
                return pick(_KEYS)
            case "n":
                return str(inputs.number(""))
        text = inputs.text("subject").translate(_ONE_LINE).replace("{", "(")[:3_000]
        if kind == "l":
            message = f"Subject: {text}\r\nContent-Type: {pick(_TYPES)}\r\n\r\n{text}"
            return f"{{{len(message.encode('utf-8', 'replace'))}+}}\r\n{message}"
        if protocol == "imap" and inputs.dice.random() < 0.6:
            return '"' + text.replace("\\", "").replace('"', "") + '"'
        return text

    def send(self, line: tuple[str, bytes]) -> Outcome:
        """Send one line and read what is answered, be it nothing more than the end of the connection."""
        protocol, data = line
        self._count += 1
        faults = len(self.log.faults)
        try:
            status = self._ask(protocol, data)
        except TimeoutError:
            status = "closed"
            self.log.faults.append(f"No answer within {_PATIENCE} seconds to {data[:300]!r}")
        except OSError:
            status = "closed"
        if protocol in self._sockets and status == "closed":
            self._sockets.pop(protocol).close()
        if status != "ok" and data == b"DATA":
            self._pending = []  # no message is waited for
        if len(self.log.faults) > faults:
            return Outcome("fault", (self.log.faults[-1],))
        return Outcome("ok" if status == "ok" else "refused", (status,))

    def _ask(self, protocol: str, data: bytes) -> str:
        if protocol not in self._sockets:
            self._sockets[protocol] = self._signed_in(protocol)
        connection = self._sockets[protocol]
        tag = b"%d " % self._count if protocol == "imap" else b""
        connection.sendall(tag + data + b"\r\n")
        return _answer(connection, tag)

    def _signed_in(self, protocol: str) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._app.pool.mail_ports[protocol]), _PATIENCE)
        connection.recv(4096)
        lines = [b"a LOGIN %s %s" % (ME.encode(), self._id.encode()), b"a SELECT INBOX"]
        if protocol == "smtp":
            plain = base64.b64encode(f"\0{ME}\0{self._id}".encode())
            lines = [b"EHLO x", b"AUTH PLAIN " + plain]
        for line in lines:
            connection.sendall(line + b"\r\n")
            said = _answer(connection, b"a " if protocol == "imap" else b"")
            assert said == "ok", f"{line!r}: {said}"
        return connection


_ONE_LINE = str.maketrans("\r\n\f", "   ")
_PATIENCE = 120.0
"""Seconds until what is not answered is a fault."""
_TYPES = (
    "text/plain; charset=utf-8",
    "text/html",
    "multipart/mixed; boundary=b",
    "message/rfc822",
    "text/plain; charset=nonsense",
    'multipart/alternative; boundary="',
    "x/y; name*0*=utf-8''%FF",
)


def _answer(connection: socket.socket, tag: bytes) -> str:
    """Classify the answer to a line: ok, refused, or closed (also by the client on request)."""
    data = b""
    while True:
        part = connection.recv(65_536)
        if not part:
            return "closed"
        data += part
        if not data.endswith(b"\n"):
            continue
        last = data.rstrip(b"\r\n").rpartition(b"\n")[2]
        if not tag:
            if last[3:4] == b"-":
                continue
            if last[:3] in (b"334", b"421"):
                return "closed"
            return "ok" if last[:1] in b"23" else "refused"
        at = (b"\n" + data).find(b"\n" + tag)
        if at >= 0:
            verdict = data[at + len(tag) : at + len(tag) + 2]
            return "closed" if b"* BYE" in data else "ok" if verdict == b"OK" else "refused"
        if data.startswith(b"+") or b"\n+" in data:
            return "closed"
