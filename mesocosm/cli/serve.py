"""Serving: serve, mcp-config, bridge."""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AdminToken,
    Disturb,
    Length,
    Parameter,
    Seed,
    SpreadCommand,
    Structured,
    Tools,
    Trust,
    With,
    read_parameters,
    read_services,
    read_target,
    trusted,
)
from mesocosm.cli.output import err, show_episode, spinner
from mesocosm.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from mesocosm.doors.mail.ports import MailServers
    from mesocosm.families.store import EpisodeStore
    from mesocosm.families.task import Offer
    from mesocosm.hosting.hosts.host import HostSettings
    from mesocosm.hosting.hosts.serving import Start
    from mesocosm.hosting.metrics import RequestLog
    from mesocosm.hosting.pool import EpisodePool


@app.command(cls=SpreadCommand)
def serve(
    stdio: Annotated[
        str | None, typer.Option(help="Serve this service (or `all`) of --world over stdin and stdout.")
    ] = None,
    world: Annotated[
        Path | None, typer.Option(help="With --stdio: directory of a world or an instance.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback need an admin token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8321,
    state: Annotated[
        Path,
        typer.Option(envvar="MESOCOSM_STATE", help="Directory of the episodes, which survive a restart."),
    ] = Path(".mesocosm"),
    admin_token: AdminToken = None,
    tokens: Annotated[
        Path | None,
        typer.Option(envvar="MESOCOSM_TOKENS", help="File of further tokens, each with a name and quotas."),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="Host header to accept besides loopback, such as mesocosm:8321; repeatable."),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="A limit of workspaces or code, NAME=VALUE as in workspace_size=2GiB; repeatable."),
    ] = None,
    imap_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve mailboxes over IMAP on this port (0: any).")
    ] = None,
    smtp_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Accept mail over SMTP on this port (0: any).")
    ] = None,
    hosts: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=256,
            help="Number of processes behind this address (0: those that join).",
        ),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Join the server at this URL as a host; it has --hosts 0 and the same admin token.",
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="[ADDRESS]",
            help="Serve with hosts (one for each node, or --hosts) of a Ray cluster; needs --store.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            envvar="MESOCOSM_STORE",
            help="Also store episodes and instances here: file:///folder, s3://bucket/path.",
        ),
    ] = None,
    keep_every: Annotated[
        float,
        typer.Option(
            min=0, help="With --store: seconds until a change is stored (0: before it is answered)."
        ),
    ] = 5.0,
    expire_after: Annotated[
        str | None,
        typer.Option(
            envvar="MESOCOSM_EXPIRE_AFTER",
            help="Remove episodes without a call, and unused instances, after this long: 12h, 7d.",
        ),
    ] = None,
    expire_abandoned: Annotated[
        bool,
        typer.Option(
            "--expire-abandoned/--keep-abandoned",
            help="Remove trainers' episodes that had no call for their `abandoned_after` (2 hours).",
        ),
    ] = True,
    tls: Annotated[
        bool,
        typer.Option("--tls", help="Serve HTTPS with a self-signed certificate, for clients such as gh."),
    ] = False,
    tls_cert: Annotated[
        Path | None, typer.Option(help="Serve https with this certificate (PEM, with its chain) ...")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="... and its key (PEM).")] = None,
    log: Annotated[
        str | None, typer.Option(help="Write a line of JSON for each request to this file (-: stderr).")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Open an episode of this task and print its URLs.")] = None,
    length: Length = None,
    seed: Seed = 0,
    param: Parameter = None,
    tools: Tools = "all",
    structured: Structured = False,
    disturb: Disturb = "",
    with_: With = None,
    trust: Trust = False,
) -> None:
    """Serve one world over stdio, or many episodes over HTTP."""
    from mesocosm.worlds.limits import STRUCTURED, override, settings

    for assignment in [*(limit or []), *([STRUCTURED] if structured else [])]:
        override(assignment)
    settings()  # says now what is wrong with them
    told = (("--with", with_), ("--param", param), ("--disturb", disturb))
    if trust and not task:
        raise UsageError("--trust goes with --task; name files for later episodes in MESOCOSM_TRUST")
    if not task and (given := [name for name, value in told if value]):
        raise UsageError(f"{given[0]} goes with --task; other episodes are created by the control plane")
    added = read_services(with_)
    if stdio:
        _serve_stdio(stdio, world, tools)
        return
    from mesocosm.worlds.log_format import report_with_time

    report_with_time()
    if join is not None:
        _join(join, admin_token, state, host, port)
        return
    if world:
        raise UsageError("--world goes with --stdio; over HTTP, episodes are created by the control plane")
    from mesocosm.doors.connections import raise_file_limit
    from mesocosm.doors.mail import MAIL_SERVICE
    from mesocosm.families.family import load_family
    from mesocosm.families.leases import server_of
    from mesocosm.hosting.application import LOOPBACK, Hosting
    from mesocosm.hosting.expiry import read_age
    from mesocosm.hosting.hosts.host import HostSettings
    from mesocosm.hosting.hosts.placement import key_of
    from mesocosm.hosting.server import admin_token as choose_token
    from mesocosm.hosting.server import authority, listen
    from mesocosm.hosting.server import serve as serve_http
    from mesocosm.hosting.tokens import read_tokens

    # What is made for this process alone, such as the image of its sandboxes, goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    raise_file_limit()
    token = choose_token(state, host, admin_token)
    quotas = read_tokens(tokens) if tokens else []
    expiry = read_age(expire_after) if expire_after else None
    pair = _own_certificate(tls_cert, tls_key)
    if tls and pair is None:
        pair = _certificate(state, host, allowed_host or [])
    listener = listen(host, port)
    requests = _request_log(log)
    kept = _store(store)
    if hosts is not None or ray is not None:
        if tls or tls_cert:
            raise UsageError("--tls is for one process; in front of hosts, put a proxy with TLS")
        if ray is not None and (kept is None or any(quota.bytes for quota in quotas)):
            raise UsageError(
                "--ray needs --store, which all nodes reach, and no quota limits `bytes` on disks elsewhere"
            )
        mail_listeners = _mail_listeners(host, imap_port, smtp_port)
        order = _order(task, length, seed, param, tools, added, disturb, trust) if task else None
        behind = HostSettings(
            number=0,
            address="",
            state=state.absolute(),
            mail_ports={name: listener.getsockname()[1] for name, listener in mail_listeners.items()},
            key=key_of(state).hex(),
            admin_token=token,
            tokens=quotas,
            token_file=tokens.absolute() if tokens else None,
            allowed_hosts=allowed_host or [],
            store=kept.url if kept else None,
            keep_every=keep_every,
            server=server_of(state) if kept else None,
            alone=ray is not None,
            expire_after=expiry,
            expire_abandoned=expire_abandoned,
            behind_proxy=host in LOOPBACK and ray is None,
        )
        if not admin_token:
            err.print(f"admin token: {state / 'admin-token'}")
        with _hosts(hosts, ray) as (start, words):
            _serve_hosts(start, words, listener, host, behind, order, requests, mail_listeners)
        return
    hosting = Hosting(
        state,
        admin_token=token,
        allowed_hosts=allowed_host,
        log=requests,
        store=kept,
        keep_every=keep_every,
        tokens=quotas,
        token_file=tokens,
        expire_after=expiry,
        expire_abandoned=expire_abandoned,
    )
    mail = _mail_servers(hosting.pool, _mail_listeners(host, imap_port, smtp_port))
    port = listener.getsockname()[1]
    base = f"{'https' if pair else 'http'}://{authority(host, port)}"
    err.print(f"serving on {base}; control plane: {base}/docs")
    _show_mail(host, hosting.pool.mail_ports)
    if not admin_token:
        err.print(f"admin token: {state / 'admin-token'}")
    if task:
        trusted(trust, task)
        family = load_family(task)
        parameters = read_parameters(param)
        target = read_target(length, parameters, family.task.lengths[0])
        with spinner() as report:
            report(f"building {family.name}")
            id_ = hosting.pool.create(family, seed, target, parameters, tools, added, disturb)
        hosted = hosting.pool.get(id_)
        show_episode(base, id_, hosted.episode.prompt, list(hosted.services), hosted.apis)
        if hosting.pool.mail_ports and hosted.is_open(MAIL_SERVICE):
            err.print(f"\n[bold]mail[/] user: the mailbox's address, password: {id_}")
    serve_http(hosting, host, port, listener, mail, pair)


def _own_certificate(cert: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    """The files of a certificate that is there, once they are known to fit each other."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise UsageError("--tls-cert and --tls-key go together")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"--tls-cert {cert}, --tls-key {key}: {error.strerror or error}") from None
    return cert, key


def _certificate(state: Path, host: str, more: list[str]) -> tuple[Path, Path]:
    """The files of a certificate for all names of this server, and of its key."""
    from mesocosm.hosting.tls import certificate

    names = ["localhost", "127.0.0.1", "::1", *(name.partition(":")[0] for name in (host, *more))]
    pair = certificate(
        state / "tls", [name for name in dict.fromkeys(names) if name not in ("0.0.0.0", "*", "")]
    )
    err.print(f"certificate: {pair[0]} (SSL_CERT_FILE and GIT_SSL_CAINFO tell clients of it)")
    return pair


def _order(
    task: str,
    length: str | None,
    seed: int,
    param: list[str] | None,
    tools: str,
    added: list[str],
    disturb: str,
    trust: bool,
) -> dict[str, Any]:
    """The episode of ``--task``, as the control plane takes it."""
    from mesocosm.families.family import load_family

    trusted(trust, task)
    parameters = read_parameters(param)
    target = read_target(length, parameters, load_family(task).task.lengths[0])
    return {
        "task": task,
        "length": target,
        "seed": seed,
        "parameters": parameters,
        "tools": tools,
        "services": added,
        "disturb": disturb,
    }


@contextmanager
def _hosts(count: int | None, ray: str | None) -> Iterator[tuple[Start, str]]:
    """Yield the way to start hosts, with a description."""
    if count == 0:
        from mesocosm.hosting.hosts.joining import JoinedHosts

        yield JoinedHosts, "the hosts that join it"
        return
    if ray is None:
        from mesocosm.hosting.hosts.processes import HostProcesses

        number = count or 1
        yield lambda door, settings: HostProcesses(door, settings, number), f"{number} hosts"
        return
    from mesocosm.families.workers.cluster import RayCluster
    from mesocosm.hosting.hosts.nodes import NodeHosts

    with RayCluster(ray) as cluster:
        number = count or cluster.nodes
        words = f"{number} hosts on {cluster.nodes} nodes"
        yield lambda door, settings: NodeHosts(door, settings, number, cluster), words


def _join(door: str, token: str | None, state: Path, host: str, port: int) -> None:
    from mesocosm.hosting.hosts.joining import serve_joined
    from mesocosm.hosting.server import admin_token as choose_token

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    serve_joined(
        door.rstrip("/"),
        choose_token(state, "localhost", token),
        state,
        host,
        port,
        lambda number, address: err.print(f"host {number} of {door} on {address}"),
    )


def _serve_hosts(
    start: Start,
    words: str,
    listener: socket.socket,
    host: str,
    settings: HostSettings,
    order: dict[str, Any] | None,
    log: RequestLog | None,
    mail: dict[str, socket.socket],
) -> None:
    import mesocosm
    from mesocosm.hosting.hosts.serving import serve_hosts
    from mesocosm.hosting.server import authority

    port = listener.getsockname()[1]
    base = f"http://{authority(host, port)}"
    err.print(f"serving on {base} with {words}; control plane: {base}/docs")
    _show_mail(host, settings.mail_ports)

    def open_first() -> None:
        if order is not None:
            with mesocosm.connect_sync(base, token=settings.admin_token) as server:
                view = server.create(**order).view.data
            show_episode(base, view["id"], view["prompt"], list(view["services"]), list(view["apis"]))

    serve_hosts(listener, settings, start, open_first, log, mail)


def _store(url: str | None) -> EpisodeStore | None:
    from mesocosm.families.store import EpisodeStore

    if url is None:
        return None
    store = EpisodeStore(url)
    store.check()
    return store


def _request_log(path: str | None) -> RequestLog | None:
    from mesocosm.hosting.metrics import RequestLog

    try:
        return None if path is None else RequestLog(path)
    except OSError as error:
        raise UsageError(f"--log {path}: {error.strerror}") from None


def _show_mail(host: str, ports: dict[str, int]) -> None:
    for protocol, port in ports.items():
        err.print(f"{protocol} on {host}, port {port}")


def _mail_listeners(host: str, imap_port: int | None, smtp_port: int | None) -> dict[str, socket.socket]:
    """The ports of mail that are served."""
    asked = {name: port for name, port in (("imap", imap_port), ("smtp", smtp_port)) if port is not None}
    if not asked:
        return {}
    try:
        import mesocosm.doors.mail.ports  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra("to serve mailboxes", "mail") from None
    from mesocosm.hosting.server import listen

    return {name: listen(host, port) for name, port in asked.items()}


def _mail_servers(pool: EpisodePool, listeners: dict[str, socket.socket]) -> MailServers | None:
    if not listeners:
        return None
    from mesocosm.doors.mail.ports import MailServers

    return MailServers.of(pool, imap=listeners.get("imap"), smtp=listeners.get("smtp"))


@app.command(name="mcp-config")
def mcp_config(
    client: Annotated[str, typer.Option(help="Which client (see: mesocosm list clients).")],
    url: Annotated[str, typer.Option(help="URL of the episode, as in http://127.0.0.1:8321/e/<episode>.")],
    services: Annotated[
        str | None, typer.Option(help="One entry per service, separated by commas (default: one for all).")
    ] = None,
) -> None:
    """Print the MCP configuration of an episode in a client's own format."""
    from mesocosm.doors.client_configurations import client_config
    from mesocosm.families.tool_limits import CLIENTS, too_many
    from mesocosm.services.service import load_service

    base = url.rstrip("/").removesuffix("/mcp")
    if not re.search(r"/e/[^/]+$", base):
        raise UsageError(
            f"{url} is not an episode's URL: it should end with /e/EPISODE (mesocosm serve prints it)"
        )
    names = [name.strip() for name in services.split(",")] if services else []
    for name in names:
        load_service(name)
    servers = {name: f"{base}/{name}/mcp" for name in names} or {"mesocosm": f"{base}/mcp"}
    print(client_config(client, servers))
    provider = CLIENTS.get(client, "")
    if provider and (text := too_many(sum(map(_tools_at, servers.values())), provider)):
        err.print(f"[yellow]{text}[/]")


def _tools_at(url: str) -> int:
    """Count the tools of an endpoint; 0 if nobody answers."""
    from mesocosm.doors.bridge import VERSION_KEY, Bridge

    meta = {VERSION_KEY: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    answer = io.BytesIO()
    Bridge(url, answer).run(io.BytesIO(json.dumps(asked).encode()))
    return len(json.loads(answer.getvalue()).get("result", {}).get("tools", ()))


@app.command()
def bridge(url: Annotated[str, typer.Argument(help="URL of an MCP endpoint.")]) -> None:
    """Run a stdio MCP server that forwards everything to an HTTP endpoint."""
    from mesocosm.doors.bridge import main as run_bridge

    run_bridge(url)


def _serve_stdio(service: str, world: Path | None, tools: Offer) -> None:
    import anyio

    from mesocosm.doors import handshake
    from mesocosm.doors.mcp import serve_stdio
    from mesocosm.doors.stdio import SharedWorld

    if world is None:
        raise UsageError("--stdio needs --world DIR")
    folder = world / "world" if (world / "world").is_dir() else world
    offer = None if tools == "all" else _offer(folder, tools)
    shared = SharedWorld(folder, offer)
    if service != "all" and service not in shared.services:
        raise UsageError(f"the world has no service {service!r}; it has {', '.join(shared.services)}")
    anyio.run(serve_stdio, shared, None if service == "all" else service, handshake.greeting)


def _offer(world: Path, tools: Offer) -> dict[str, list[str] | None]:
    """The tools of a world that its task needs, or those of these names."""
    from mesocosm.families.family import load_family
    from mesocosm.services.world import World

    with World(world) as opened:
        return load_family(opened.manifest.family).task.offered(tools)
