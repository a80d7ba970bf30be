"""A server under a name of its own at port 443, for clients that know no other: a proxy leads to it."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from patience import PATIENCE

NAME = "mesocosm.test"


@dataclass(frozen=True)
class SecureHost:
    """How clients find it."""

    name: str
    proxy: str
    certificate: Path


class _Tunnel(socketserver.StreamRequestHandler):
    """Answers CONNECT, whatever it names, with a connection to the server."""

    def handle(self) -> None:
        while self.rfile.readline() not in (b"\r\n", b""):
            pass
        with socket.create_connection(("127.0.0.1", self.server.port)) as far:  # type: ignore[attr-defined]
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pump, args=(far, self.connection), daemon=True)
            back.start()
            _pump(self.connection, far)
            back.join(PATIENCE)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


class _Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def proxy_to(port: int, certificate: Path) -> Iterator[SecureHost]:
    """Lead clients to a port."""
    with _Proxy(("127.0.0.1", 0), _Tunnel) as proxy:
        proxy.port = port  # type: ignore[attr-defined]
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield SecureHost(NAME, f"http://127.0.0.1:{proxy.server_address[1]}", certificate)
        proxy.shutdown()
