"""Lines to the mail ports of a server that has one episode, whose mailbox they are about."""

from __future__ import annotations

import base64
import logging
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Self

from fuzzing.inputs import Inputs
from mesocosm.doors.mail.listening import MailServers
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.listening import listen, serving
from mesocosm.worlds.world import Outcome

ME = "ada@example.org"
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
    "MAIL FROM:<ada@example.org>",
    "MAIL FROM:<{t}> SIZE=9",
    "RCPT TO:<bob@example.org>",
    "RCPT TO:<{t}>",
    "DATA\r\nSubject: {t}\r\n\r\n{t}\r\n.",
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


class _Warnings(logging.Handler):
    """Counts what the libraries of the protocols could not make sense of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(record.getMessage()[:300])


class MailSession:
    """A client of both protocols, which signs in again whenever it is shown the door."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._sockets: dict[str, socket.socket] = {}
        self._count = 0
        self.warnings = _Warnings()

    def __enter__(self) -> Self:
        world = self._folder / "world"
        self._app = Hosting(self._folder / "state", admin_token="token")
        for name in ("expected.json", "prompt.md"):
            (self._folder / name).write_text("{}")
        family: Any = SimpleNamespace(
            name="fuzz", path=Path("tasks/fuzz.yaml"), task=SimpleNamespace(servers={"email": None})
        )
        assert world.is_dir()
        self._id = self._app.pool.adopt(self._folder, family)
        mail = MailServers(self._app.pool, imap=listen("127.0.0.1", 0), smtp=listen("127.0.0.1", 0))
        self._stack.enter_context(serving(self._app, mail))
        logging.getLogger("mesocosm.doors").addHandler(self.warnings)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("mesocosm.doors").removeHandler(self.warnings)
        for connection in self._sockets.values():
            connection.close()
        self._stack.close()

    def line(self, inputs: Inputs) -> tuple[str, bytes]:
        """Protocol and line."""
        protocol = "imap" if inputs.dice.random() < 0.7 else "smtp"
        text = self._fill(inputs.dice.choice(_IMAP if protocol == "imap" else _SMTP), inputs, protocol)
        return protocol, text.encode("utf-8", "replace")

    def _fill(self, text: str, inputs: Inputs, protocol: str) -> str:
        for _ in range(40):
            at = text.find("{")
            if at < 0 or text[at + 2 : at + 3] != "}":
                break
            text = text[:at] + self._part(text[at + 1], inputs, protocol) + text[at + 3 :]
        return text[:20_000]

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
        text = inputs.text("subject").replace("\r", " ").replace("\n", " ").replace("{", "(")[:3_000]
        if protocol == "imap" and inputs.dice.random() < 0.6:
            return '"' + text.replace("\\", "").replace('"', "") + '"'
        return text

    def send(self, line: tuple[str, bytes]) -> Outcome:
        """Send one line and read what is answered, be it nothing more than the end of the connection."""
        protocol, data = line
        self._count += 1
        before = len(self.warnings.seen)
        with suppress(OSError):
            connection = self._connection(protocol)
            tag = b"%d " % self._count if protocol == "imap" else b""
            connection.sendall(tag + data + b"\r\n")
            if not self._answered(connection, tag or None):
                connection.close()
                del self._sockets[protocol]
        faults = self._app.pool.get(self._id).episode.world.journal.faults() if self._count % 50 == 0 else []
        if faults:
            raise AssertionError(f"{faults[-1][0]} after {data!r}:\n{faults[-1][1]}")
        status: Literal["ok", "refused"] = "refused" if len(self.warnings.seen) > before else "ok"
        return Outcome(status)

    def _connection(self, protocol: str) -> socket.socket:
        if protocol not in self._sockets:
            port = self._app.pool.mail_ports[protocol]
            connection = self._sockets[protocol] = socket.create_connection(("127.0.0.1", port), 20)
            connection.recv(4096)
            if protocol == "imap":
                connection.sendall(f"a LOGIN {ME} {self._id}\r\n".encode())
            else:
                plain = f"\0{ME}\0{self._id}".encode()
                connection.sendall(b"EHLO x\r\n")
                connection.recv(4096)
                connection.sendall(b"AUTH PLAIN " + base64.b64encode(plain) + b"\r\n")
            connection.recv(4096)
        return self._sockets[protocol]

    def _answered(self, connection: socket.socket, tag: bytes | None) -> bool:
        """Whether the connection goes on. A continuation is left at once."""
        data = b""
        while True:
            part = connection.recv(65_536)
            if not part:
                return False
            data += part
            if tag is None:
                last = data.rstrip(b"\r\n").rpartition(b"\n")[2]
                if last[3:4] != b"-" and data.endswith(b"\n"):
                    return not last.startswith((b"354", b"334", b"421"))
            elif (b"\n" + data).find(b"\n" + tag) >= 0 and data.endswith(b"\n"):
                return b"* BYE" not in data
            elif data.startswith(b"+") or b"\n+" in data:
                return False
