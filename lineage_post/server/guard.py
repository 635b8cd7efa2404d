"""What every request passes: the size of its body, its token, and the headers of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse

from lineage_post.server.settings import Settings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "lineage_post_token"
_OURS = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
#: The page of the API's documentation starts itself by an inline script.
_DOCS = _OURS.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Wraps an application: ``Guard(app, settings)``. Sets ``scope["viewer"]``."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]
        try:
            scope["viewer"] = self.settings.viewer(given or _token(headers))
        except PermissionError as error:
            refusal = JSONResponse({"error": str(error)}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        if given and scope["method"] == "GET":
            # A link with a token is opened once; the token stays out of the history from then on.
            await _with_cookie(scope["path"], given)(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._body(receive)
        if body is None:
            refusal = JSONResponse({"error": f"at most {self.settings.most_bytes:,} bytes"}, 413)
            await refusal(scope, receive, send)
            return

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                added.update(HEADERS)
                added["Content-Security-Policy"] = _DOCS if scope["path"] == "/docs" else _OURS
            await send(message)

        await self.app(scope, _replayed(body, receive), sent)

    async def _body(self, receive: Receive) -> bytes | None:
        """The body, None where it is too large; a length that is promised is not believed."""
        body = b""
        while True:
            message = await receive()
            body += bytes(message.get("body", b""))
            if len(body) > self.settings.most_bytes:
                return None
            if not message.get("more_body"):
                return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    is_given = False

    async def replayed() -> MutableMapping[str, Any]:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _token(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    return cookie.value if cookie else None


def _with_cookie(path: str, token: str) -> RedirectResponse:
    # A path that began with two slashes would name another host.
    answer = RedirectResponse("/" + path.lstrip("/\\"), 303, HEADERS)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer
