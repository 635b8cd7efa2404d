"""The sockets that the server listens on, taken before anything is loaded."""

from __future__ import annotations

import errno
import os
import socket

from lineage_post.errors import LineageError

#: A name may stand for addresses that this machine has not, such as ::1 where there is no IPv6.
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def listening(host: str, port: int) -> list[socket.socket]:
    """A bound socket for each address of the host, all at one port; port 0 is any free one.

    Raises LineageError where the port is taken or the host is none of this machine's.
    """
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise _unreachable(host, error) from error
    found: list[socket.socket] = []
    missing: OSError | None = None
    for family, _, _, _, address in dict.fromkeys(known):
        own = found[0].getsockname()[1] if found else port
        try:
            found.append(_bound(family, (address[0], own, *address[2:])))
        except OSError as error:
            if error.errno in _NOT_HERE:
                missing = error
                continue
            for one in found:
                one.close()
            raise LineageError(
                f"serve cannot listen on port {own} of {host}: {error.strerror or error}.",
                hint="Name another port with --port; --port 0 takes one that is free.",
            ) from error
    if not found:
        raise _unreachable(host, missing)
    return found


def _bound(family: int, address: tuple[object, ...]) -> socket.socket:
    own = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # Elsewhere it would let two servers have one port.
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        own.bind(address)
    except OSError:
        own.close()
        raise
    return own


def _unreachable(host: str, error: OSError | None) -> LineageError:
    why = error.strerror if error and error.strerror else "it has no address"
    return LineageError(
        f"serve cannot listen on {host}: {why}.",
        hint="Name an address of this machine with --host; 127.0.0.1 is the default.",
    )
