"""The bundle of an evidence: files under one hash, in a folder or a ZIP file.

    evidence.json    the document          evidence.md    the same for people
    sql/001_....sql  compiled SQL          seal.json      sha256 of each file, and of it all

``content_sha256`` depends on the content alone, so the same artifacts give the same one;
``seal_sha256`` covers ``created_at`` too. Keep either of them elsewhere: whoever can replace the
whole bundle can replace the hash in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_post.errors import LineageError
from lineage_post.publish.evidence import FORMAT, Evidence
from lineage_post.publish.evidence_markdown import evidence_markdown
from lineage_post.publish.text_file import write_parts

SEAL = "seal.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
#: A bundle beyond this is not one of ours.
_MOST_BYTES = 1 << 30


def files_of(evidence: Evidence) -> dict[str, bytes]:
    """The files of a bundle but for the seal, by name."""
    texts = {
        "evidence.json": _json(evidence.document),
        "evidence.md": evidence_markdown(evidence.document, evidence.sql),
        **evidence.sql,
    }
    return {name: texts[name].encode("utf-8", "replace") for name in sorted(texts)}


def seal_of(files: Mapping[str, bytes], created_at: str) -> dict[str, Any]:
    """The seal over files: their hashes, one over all, and one with the time."""
    return _sealed({n: hashlib.sha256(files[n]).hexdigest() for n in sorted(files)}, created_at)


def _sealed(hashes: Mapping[str, Any], created_at: str) -> dict[str, Any]:
    content = _digest({"format": FORMAT, "files": hashes})
    return {
        "format": FORMAT,
        "created_at": created_at,
        "files": dict(hashes),
        "content_sha256": content,
        "seal_sha256": _digest({"content_sha256": content, "created_at": created_at}),
    }


def bundle_of(evidence: Evidence, created_at: str) -> dict[str, bytes]:
    """All files of a bundle, the seal among them."""
    files = files_of(evidence)
    return {**files, SEAL: _json(seal_of(files, created_at)).encode("utf-8")}


def write_bundle(files: Mapping[str, bytes], out: Path) -> None:
    """Writes a ZIP file, or a folder where the name does not end in ``.zip``.

    Raises LineageError where something else is in the folder already.
    """
    if out.suffix.lower() == ".zip":
        write_parts(out, [_zipped(files)])
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LineageError(f"{out} is there already", hint="Name another folder with --out.")
    for name, content in files.items():
        write_parts(out / name, [content])


def verify_bundle(path: Path, expected: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The seal of a bundle, and what is wrong with it: nothing where nothing was changed.

    ``expected`` is a hash kept elsewhere. Raises LineageError for what is no bundle at all.
    """
    files, problems = _read(path)
    seal = _seal(files.pop(SEAL, None), path)
    listed = seal.get("files")
    hashes: dict[str, Any] = listed if isinstance(listed, dict) else {}
    for name in sorted({*files, *hashes}):
        if name not in files:
            problems.append(f"{name} is missing")
        elif name not in hashes:
            problems.append(f"{name} was added")
        elif hashlib.sha256(files[name]).hexdigest() != hashes[name]:
            problems.append(f"{name} was changed")
    again = _sealed(hashes, str(seal.get("created_at")))
    problems += [
        f"{SEAL}: {key} was changed, or what it covers"
        for key in ("format", "content_sha256", "seal_sha256")
        if seal.get(key) != again[key]
    ]
    if set(seal) != set(again):
        problems.append(f"{SEAL}: it has other fields than a seal has")
    known = (seal.get("content_sha256"), seal.get("seal_sha256"))
    if expected is not None and expected.strip().lower() not in known:
        problems.append(f"the hash is not {expected}")
    return seal, problems


def _read(path: Path) -> tuple[dict[str, bytes], list[str]]:
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if not p.is_dir())
        links = [f"{p.relative_to(path).as_posix()} is a link" for p in found if p.is_symlink()]
        files = {
            p.relative_to(path).as_posix(): p.read_bytes() for p in found if not p.is_symlink()
        }
        return files, links
    try:
        raw = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise LineageError(f"{path}: it is too large for a bundle")
            files = {entry.filename: archive.read(entry) for entry in entries}
    except FileNotFoundError:
        raise LineageError(f"{path}: there is no such file", hint="Name a bundle.") from None
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise LineageError(
            f"{path}: not a bundle that can be read: {error}",
            hint="It was made by something else, or it was damaged.",
        ) from error
    is_same = _zipped(files) == raw
    return files, [] if is_same else ["the archive's bytes are not those that were written"]


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A ZIP file without compression: its bytes depend on its content alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def _seal(content: bytes | None, path: Path) -> dict[str, Any]:
    try:
        seal = json.loads(content or b"")
    except (ValueError, RecursionError):
        seal = None
    if not isinstance(seal, dict):
        raise LineageError(
            f"{path}: there is no {SEAL} that can be read",
            hint="Name a bundle that lineage-post evidence has written.",
        )
    return seal


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
