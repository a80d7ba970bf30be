"""MCP: the one module that knows the SDK.

Services and worlds do not: here their tools become an MCP server, and here programs of ours become MCP
clients. Both protocol eras are the SDK's: the 2025 handshake, and 2026-07-28 without sessions.
"""

# Only this module knows the MCP SDK; one SDK server per service serves every episode (decision 003).

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, Self

import anyio
import anyio.from_thread
import mcp_types as types
import orjson
from anyio.abc import TaskGroup, TaskStatus
from mcp import Client, MCPError, StdioServerParameters
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.message import SessionMessage
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

import mesocosm
from mesocosm.doors import connections
from mesocosm.doors.admission import Full, intake, looked_at, take_turn
from mesocosm.doors.episodes import Caller, why_not_now
from mesocosm.doors.handshake import Greeting
from mesocosm.doors.stdio import StdioConversation
from mesocosm.services.calling import FAULT_TEXT, ToolError, Tools
from mesocosm.services.calls import Outcome
from mesocosm.services.service import (
    Action,
    Image,
    Service,
    Tool,
    UnknownTool,
    combined_names,
    load_resources,
    load_service,
    offered_tool,
)
from mesocosm.services.world import World
from mesocosm.worlds.error_mapping import NO_ROOM, is_no_room
from mesocosm.worlds.limits import setting

IDEMPOTENCY_KEY = "io.mesocosm/idempotency-key"
"""Request ``_meta`` key (over HTTP also the header ``Idempotency-Key``): a retried write counts once."""

SERVICE_KEY = "io.mesocosm/service"
"""Key of a listed tool's ``_meta``: the service that it belongs to."""

_log = logging.getLogger(__name__)

Era = Literal["auto", "legacy"]
Context = ServerRequestContext[Any, Any]


class WorldCaller:
    """A world that this process has for itself."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._turn = anyio.Lock(fast_acquire=True)

    @property
    def services(self) -> Mapping[str, Service[Any]]:
        return self._world.services

    @property
    def all_services(self) -> tuple[str, ...]:
        """Their names, and those of services without a tool that is offered."""
        return self._world.all_services

    def is_open(self, service: str) -> bool:
        """True if the whole service is offered."""
        return self._world.is_open(service)

    async def make(
        self, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        """Make one call after another; long ones in a thread, so that the connection stays alive."""
        async with self._turn:
            return await take_turn(self._world, service, action, arguments, key)


# -- server ---------------------------------------------------------------------------------------------


def build_server(service: str, caller_of: Callable[[Context], Caller]) -> Server[Any]:
    """An MCP server for one service of whoever calls."""
    names = {(service, tool): tool for tool in load_service(service).tools}
    return _server(service, load_service(service).instructions, names, caller_of)


def build_combined_server(
    all_services: tuple[str, ...], offered: tuple[str, ...], caller_of: Callable[[Context], Caller]
) -> Server[Any]:
    """An MCP server for the services of a world together, of which it has tools of those ``offered``."""
    instructions = ["Tools of several services. What holds for each:"]
    instructions += [f"{name}: {load_service(name).instructions}" for name in offered]
    return _server("mesocosm", "\n\n".join(instructions), combined_names(all_services), caller_of)


def world_server(world: World) -> Server[Any]:
    """An MCP server for all services of a world that this process has for itself."""
    return _all_of(WorldCaller(world))


def _all_of(caller: Caller) -> Server[Any]:
    return build_combined_server(caller.all_services, tuple(caller.services), lambda _: caller)


def _server(
    title: str,
    instructions: str,
    names: Mapping[tuple[str, str], str],
    caller_of: Callable[[Context], Caller],
) -> Server[Any]:
    """Build the MCP server; ``names`` maps service and tool to the public name."""
    # Names are fixed for a server; which of them an episode offers is asked with each call, as one server
    # serves many episodes.
    found = {name: tool for tool, name in names.items()}

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = [(s, tool) for s in caller_of(context).services.values() for tool in s.tools.values()]
        return types.ListToolsResult(
            tools=[
                _tool_type(tool, names[service.name, tool.name], service.name)
                for service, tool in offered
                if (service.name, tool.name) in names
            ]
        )

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if context.request is not None:  # a session's calls are made by a task of its own
            connections.current_request.set(context.request.headers.get(connections.REQUEST_ID))
        try:
            service, name = found.get(params.name, ("", ""))
            caller = caller_of(context)
            tool = offered_tool(caller.services, service, name)
            outcome = await caller.make(service, tool, params.arguments or {}, _key(context))
        # Not offered and not existing are told alike: what other tools a service has is not the agent's to
        # know.
        except UnknownTool:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}") from None
        except Exception as error:  # noqa: BLE001 - the world cannot be used: what is wrong is the operator's
            if is_no_room(error):
                # Nothing was done, and it is no fault of the episode's: /ready says it to who can help.
                raise MCPError(code=types.INTERNAL_ERROR, message=f"Not done: {NO_ROOM}.") from None
            if reason := why_not_now(error):
                # The transport would answer 200; what sends the answer looks here and makes it a 503, which
                # clients repeat.
                if context.request is not None:
                    context.request.scope[_NOT_NOW].append(reason)
                raise MCPError(code=types.INTERNAL_ERROR, message=reason) from None
            _log.exception("the call %s could not be made", params.name)
            raise MCPError(code=types.INTERNAL_ERROR, message=FAULT_TEXT) from None
        content = _content(outcome)
        if tool.gives_object and not outcome.is_error and setting(_STRUCTURED):
            said = orjson.loads(outcome.text)
            return types.CallToolResult(content=content, structured_content=said, is_error=False)
        return types.CallToolResult(content=content, is_error=outcome.is_error)

    def input_schema(name: str) -> dict[str, Any] | None:
        service, tool = found.get(name, (None, ""))
        return load_service(service).tools[tool].signature.schema if service else None

    has_resources = any(load_resources(service) for service, _ in names)
    server: Server[Any] = Server(
        title,
        version=mesocosm.__version__,
        instructions=instructions or None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # Without it the SDK lists all tools again for every call.
        get_tool_input_schema=input_schema,
        **(_resources({service for service, _ in names}, caller_of) if has_resources else {}),
    )
    # The SDK puts telemetry around each request; calls are counted by our own metrics.
    server.middleware.clear()
    return server


def _resources(services: Collection[str], caller_of: Callable[[Context], Caller]) -> dict[str, Any]:
    """Collect the MCP resources of services. Reading one is a call like any other."""

    def offered(context: Context) -> dict[str, tuple[str, Action]]:
        caller = caller_of(context)
        open_ = [name for name in caller.services if name in services and caller.is_open(name)]
        return {uri: (name, one) for name in open_ for uri, one in load_resources(name).items()}

    async def listed(context: Context, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=uri,
                    name=action.function.__name__,
                    description=" ".join((action.function.__doc__ or "").split()),
                    mime_type="text/plain",
                )
                for uri, (_, action) in offered(context).items()
            ]
        )

    async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        service, action = offered(context).get(uri, ("", None))
        if action is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {uri}")
        outcome = await caller_of(context).make(service, action, {}, _key(context))
        if outcome.is_error:
            raise MCPError(code=types.INTERNAL_ERROR, message=outcome.text)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=outcome.text)]
        )

    async def templates(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    return {
        "on_list_resources": listed,
        "on_list_resource_templates": templates,
        "on_read_resource": read,
    }


_STRUCTURED = "structured_results"
_types: dict[tuple[int, str, bool], types.Tool] = {}


def _tool_type(tool: Tool, name: str, service: str) -> types.Tool:
    structured = tool.gives_object and bool(setting(_STRUCTURED))
    # By identity: tools live as long as the process, and a listing is validated once for all clients.
    found = _types.get((id(tool), name, structured))
    if found is None:
        listing = {**tool.listing, "name": name, "_meta": {SERVICE_KEY: service}}
        if structured:
            listing["outputSchema"] = {"type": "object"}
        found = _types[id(tool), name, structured] = types.Tool.model_validate(listing)
    return found


def _key(context: Context) -> str | None:
    key = (context.meta or {}).get(IDEMPOTENCY_KEY)
    if key is None and context.request is not None:
        key = context.request.headers.get("idempotency-key")
    return None if key is None else str(key)


def _content(outcome: Outcome) -> list[types.ContentBlock]:
    return [
        types.ImageContent(
            type="image", data=base64.b64encode(block.data).decode(), mime_type=block.media_type
        )
        if isinstance(block, Image)
        else types.TextContent(type="text", text=block)
        for block in outcome.blocks
    ]


async def serve_stdio(caller: Caller, service: str | None, greeting: Greeting | None = None) -> None:
    """Serve one world to the client at the other end of stdin and stdout, until it hangs up.

    ``greeting``: a message of it that was read already.
    """
    server = build_server(service, lambda _: caller) if service else _all_of(caller)
    options = server.create_initialization_options()
    async with stdio_server() as (reading, writing):
        conversation = StdioConversation(reading, writing)
        if greeting is not None and greeting.line.strip():
            conversation.begin_with(_envelope(greeting.line), greeting.answered)
        await conversation.serve(lambda get, put: server.run(get, put, options))


def _envelope(line: bytes) -> SessionMessage | Exception:
    """A line as the transport reads it."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line))
    except ValueError as error:
        return error


_NOT_NOW = "mesocosm.not_now"
"""Key of a request's scope: why its call cannot be answered at present."""
_Kind = str | tuple[tuple[str, ...], tuple[str, ...]]
"""A service, or the services of a world and those of them that are offered together."""


def _caller_in_scope(context: Context) -> Caller:
    caller: Caller = context.request.scope["mesocosm.caller"]  # type: ignore[union-attr]
    return caller


MOST_SESSIONS = 100
"""Of one episode, by the older protocol; an endpoint's are those of all episodes, and none ends by itself for
half an hour."""


class _Sessions(StreamableHTTPSessionManager):
    """In which a new session takes the place of its episode's oldest, where there are too many of that."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        # Dictionaries keep their order, so the first is the oldest.
        own = [session for session, owner in self._session_owners.items() if owner == requestor]
        if len(own) >= MOST_SESSIONS and self._task_group:
            self._task_group.start_soon(self._discard_session, own[0], self._server_instances[own[0]])
        return super()._admit_session(requestor)


class HttpEndpoints:
    """MCP over HTTP for any number of episodes: one server and one session manager per service, and per
    set of services for the endpoints that have them together.

    They are started when they are first asked for: an evaluation needs a few services of the many, and to
    load one takes as long as hundreds of calls.
    """

    def __init__(self, allowed_hosts: list[str]) -> None:
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection="*" not in allowed_hosts,
            allowed_hosts=allowed_hosts,
            allowed_origins=[f"http://{host}" for host in allowed_hosts],
        )
        self._guard = TransportSecurityMiddleware(self._security)
        self._managers: dict[_Kind, StreamableHTTPSessionManager] = {}
        self._tasks: TaskGroup | None = None
        self._starting = anyio.Lock()
        self._closing = anyio.Event()
        self._listening: set[anyio.CancelScope] = set()

    def end_streams(self) -> None:
        """End the answers on which clients only listen: a server that ends has nothing more to tell."""
        for one in self._listening:
            one.cancel()

    async def refused(self, scope: Scope) -> Response | None:
        """The answer to a request that came under a foreign name or from a foreign page, as every door of an
        episode gives it: a browser could be led here from elsewhere."""
        return await self._guard.validate_request(Request(scope))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept requests."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._closing.set()

    async def _manager(self, kind: _Kind) -> StreamableHTTPSessionManager:
        if kind not in self._managers:
            async with self._starting:
                if kind not in self._managers:
                    assert self._tasks, "requests are answered inside `running` only"
                    self._managers[kind] = await self._tasks.start(self._keep_running, kind)
        return self._managers[kind]

    async def _keep_running(
        self, kind: _Kind, *, task_status: TaskStatus[StreamableHTTPSessionManager]
    ) -> None:
        """Run a manager in one task, which has to start and stop it. A broken one is recreated on demand,
        without affecting others.
        """
        manager = _Sessions(
            build_server(kind, _caller_in_scope)
            if isinstance(kind, str)
            else build_combined_server(*kind, _caller_in_scope),
            security_settings=self._security,
            max_sessions=None,
        )
        try:
            async with manager.run():
                task_status.started(manager)
                await self._closing.wait()
        except Exception:  # noqa: BLE001 - one endpoint is not to end all
            self._managers.pop(kind, None)
            _log.exception("the endpoint of %s has broken", kind)

    async def handle(
        self, service: str | None, caller: Caller, owner: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer one request for one episode. ``owner`` names the episode: the SDK refuses a session under
        another owner than the one that opened it."""
        headers = [
            # uvicorn leaves trailing blanks, which would make the SDK's header checks fail.
            (name, value.strip()) if name.startswith(b"mcp-") else (name, value)
            for name, value in scope["headers"]
        ]
        scope = {**scope, "mesocosm.caller": caller, "user": _owner(owner), "headers": headers, _NOT_NOW: []}
        with intake.of(owner) as take:
            try:
                receive, wrong = await looked_at(scope, receive, take)
            except Full as full:
                refused = Response(error_body(str(full)), 503, {"Retry-After": "1"}, "application/json")
                await refused(scope, receive, send)
                return
            if wrong:
                await Response(error_body(wrong), 413, media_type="application/json")(scope, receive, send)
                return
            manager = await self._manager(service or (caller.all_services, tuple(caller.services)))
            answer = _Answer(_or_later(scope, receive, send))
            with suppress(ClientDisconnect), anyio.CancelScope() as listening:
                if scope["method"] == "GET":
                    self._listening.add(listening)
                try:
                    await manager.handle_request(scope, receive, answer.send)
                finally:
                    self._listening.discard(listening)
            await answer.complete()


class _Answer:
    """An answer that has an end, also where what wrote it was stopped amid it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_open = False

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        self._is_open = message["type"] == "http.response.start" or message.get("more_body", False)
        await self._send(message)

    async def complete(self) -> None:
        """Say that nothing more comes, unless that was said."""
        if self._is_open:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _or_later(scope: Scope, receive: Receive, send: Send) -> Send:
    """Answer 503 to a call that should be repeated later, unless the answer has already begun."""
    later = False

    async def answer(message: Message) -> None:
        nonlocal later
        if message["type"] == "http.response.start" and (reasons := scope[_NOT_NOW]):
            later = True
            refused = Response(error_body(reasons[0]), 503, {"Retry-After": "1"}, "application/json")
            await refused(scope, receive, send)
        elif not later:
            await send(message)

    return answer


@lru_cache(maxsize=4096)
def _owner(name: str) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token=name, client_id=name, scopes=[]))


def error_body(message: str) -> bytes:
    """A JSON-RPC error for a request that reached no server."""
    error = types.JSONRPCError(
        jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message=message)
    )
    return error.model_dump_json(by_alias=True).encode()


# -- client ---------------------------------------------------------------------------------------------


def _block(content: types.ContentBlock) -> Iterator[str | Image]:
    """Convert a content block for programs; skip types that our services never send."""
    if isinstance(content, types.TextContent):
        yield content.text
    elif isinstance(content, types.ImageContent):
        yield Image(base64.b64decode(content.data), content.mime_type)


@dataclass(frozen=True)
class ToolInfo:
    """A tool as a server lists it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    service: str | None = None


class McpTools(Tools):
    """Tools called over MCP, from synchronous code, by service and tool, whatever the endpoint calls them.

    ``target`` is a URL, a command for a stdio server, or an in-process server.
    """

    def __init__(self, target: str | list[str] | Server[Any], *, era: Era = "auto") -> None:
        if isinstance(target, list):
            self._target: Any = StdioServerParameters(command=target[0], args=target[1:])
        else:
            self._target = target
        self._era = era
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._portal_context = anyio.from_thread.start_blocking_portal()
        self._portal = self._portal_context.__enter__()
        self._connection = self._portal.wrap_async_context_manager(Client(self._target, mode=self._era))
        try:
            self._client: Client = self._connection.__enter__()
        except BaseException:
            self._portal_context.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            self._connection.__exit__(None, None, None)
        finally:
            self._portal_context.__exit__(None, None, None)

    @property
    def protocol_version(self) -> str:
        """The protocol revision that client and server agreed on."""
        return self._client.protocol_version

    def list_tools(self) -> list[ToolInfo]:
        """All tools of the server."""
        return [
            ToolInfo(tool.name, tool.description or "", tool.input_schema, (tool.meta or {}).get(SERVICE_KEY))
            for tool in self._portal.call(self._client.list_tools).tools
        ]

    @property
    def instructions(self) -> str:
        """The instructions of the MCP server."""
        return self._client.instructions or ""

    @cached_property
    def _names(self) -> dict[tuple[str | None, str], str]:
        # A tool bears its service before it or does not; what is listed says which.
        listed = {(info.service, info.name) for info in self.list_tools()}
        own = {(service, name.removeprefix(f"{service}_")): name for service, name in listed}
        return own | {(service, name): name for service, name in listed}

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """The text and image blocks of the result of one call."""
        result = self.result(service, tool, arguments)
        blocks = [block for content in result.content for block in _block(content)]
        if result.is_error:
            raise ToolError("\n".join(block for block in blocks if isinstance(block, str)))
        return blocks

    def result(
        self, service: str, tool: str, arguments: dict[str, Any], key: str | None = None
    ) -> types.CallToolResult:
        """The whole result of one call, errors included."""
        name = self._names.get((service, tool), tool)
        meta: Any = {IDEMPOTENCY_KEY: key} if key else None
        return self._portal.call(lambda: self._client.call_tool(name, arguments, meta=meta))
