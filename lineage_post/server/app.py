"""The HTTP face: graphs as JSON, their documentation, and the explorer's page.

POST /lineage/graph        the graph of a pasted statement
GET  /lineage/federation   the graph of the project around a focus
GET  /lineage/dependents   what breaks if a column changes
GET  /lineage/why          the SQL that tells why a row of a model is there
GET  /health               whether the artifacts could be read
GET  /openapi.json, /docs  all of this, described
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

from lineage_post import __version__
from lineage_post.errors import LineageError, OptionError, SelectionError
from lineage_post.server import answers
from lineage_post.server.guard import Guard, Receive, Scope, Send
from lineage_post.server.settings import Settings
from lineage_post.server.state import Seen, State

#: So many questions that cost time are worked on at once; more are asked to come again.
AT_ONCE = 2

_DESCRIPTION = "Column lineage of a dbt project, as the viewer of a request may see it."


class Statement(BaseModel):
    """A statement whose graph is asked for."""

    sql: str = Field(max_length=500_000, examples=["select id, sum(amount) as total from orders"])
    dialect: str | None = Field(None, description="Default: the dialect of the project.")


def create_app(state: State, settings: Settings) -> FastAPI:
    """The application. ``state`` has been started."""
    app: FastAPI = FastAPIOffline(
        redoc_url=None, title="lineage_post", version=__version__, description=_DESCRIPTION
    )
    slots = threading.Semaphore(AT_ONCE)

    async def worked_out(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if not slots.acquire(blocking=False):
            raise HTTPException(503, "busy: ask again in a moment", {"Retry-After": "2"})

        def worked() -> dict[str, Any]:
            # A thread cannot be stopped: its slot is free when it has ended, not when we give up.
            try:
                return work()
            finally:
                slots.release()

        try:
            with anyio.fail_after(settings.most_seconds):
                return await anyio.to_thread.run_sync(worked, abandon_on_cancel=True)
        except TimeoutError:
            raise HTTPException(503, f"not done in {settings.most_seconds:g} s") from None

    def seen(request: Request) -> Seen:
        return state.seen_by(request.scope.get("viewer"))

    @app.get("/lineage/federation", summary="The graph of the project around a focus")
    async def federation(
        request: Request,
        focus: Annotated[str | None, Query(description="A column (orders.id) or a node.")] = None,
        direction: Literal["upstream", "downstream", "both"] = "both",
        depth: Annotated[int, Query(ge=0, le=5)] = 5,
        indirect: bool = False,
    ) -> Response:
        now = await run_in_threadpool(seen, request)
        found = answers.federation(now, focus, direction, depth, indirect)
        return _answer(request, found)

    @app.get("/lineage/dependents", summary="What breaks if a column changes")
    async def dependents(
        request: Request,
        column: Annotated[str, Query(description="As orders.status.")],
        change: Literal["rename", "drop", "retype"] = "drop",
        to: Annotated[str | None, Query(description="The new name, or the new type.")] = None,
    ) -> Response:
        now = await run_in_threadpool(seen, request)
        return _answer(
            request, await worked_out(lambda: answers.dependents(now, column, change, to))
        )

    @app.get("/lineage/why", summary="The SQL that tells why a row of a model is there")
    async def why(
        request: Request, node: Annotated[str, Query(description="A model, as orders.")]
    ) -> Response:
        now = await run_in_threadpool(seen, request)
        return _answer(request, await worked_out(lambda: answers.why(now, node)))

    @app.post(
        "/lineage/graph",
        summary="The graph of a statement",
        responses={422: {"description": "The text is not SQL; says where."}},
    )
    async def graph(request: Request, statement: Statement) -> Response:
        now = await run_in_threadpool(seen, request)
        found = await worked_out(lambda: answers.statement(now, statement.sql, statement.dialect))
        if "error" in found:
            return JSONResponse({"detail": found["error"]}, 422)
        return _answer(request, found)

    @app.get("/health", summary="Whether the artifacts could be read")
    async def health() -> dict[str, Any]:
        return {"status": "stale" if state.problem else "ok", "problem": state.problem}

    _handle_errors(app)
    app.mount("/", _Page(state))
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.hosts)
    app.add_middleware(Guard, settings=settings)
    return app


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(LineageError)
    async def refused(request: Request, error: LineageError) -> JSONResponse:
        status = 404 if isinstance(error, SelectionError) else 400
        if isinstance(error, OptionError):
            status = 422
        return JSONResponse({"detail": {"message": error.message, "hint": error.hint}}, status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not sent back.
        found = [{"at": list(e["loc"]), "message": e["msg"]} for e in error.errors()]
        return JSONResponse({"detail": found}, 422)


def _answer(request: Request, document: dict[str, Any]) -> Response:
    """A document with its ETag, or 304 where the caller has it."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache, private"}
    if request.method == "GET" and tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    return Response(body, 200, headers, "application/json")


class _Page:
    """The explorer's files, from the folder that was made for the viewer and from no other."""

    def __init__(self, state: State) -> None:
        self.state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = await run_in_threadpool(self.state.seen_by, scope.get("viewer"))
        if now.page is None:
            gone = JSONResponse({"detail": "the explorer's page is not part of this install"}, 404)
            await (RedirectResponse("/docs") if scope["path"] == "/" else gone)(
                scope, receive, send
            )
            return
        await StaticFiles(directory=now.page, html=True)(scope, receive, send)
