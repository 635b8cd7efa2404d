"""Every setting, gathered once from flags, environment and dbt vars into one frozen value."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lineage_post.errors import OptionError
from lineage_post.vocabulary import ExposureMode


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one run; names are those of the ``lineage_post`` block under ``vars``."""

    #: false: the hook does nothing.
    enabled: bool = True
    #: A fault of ours fails the run instead of warning.
    strict: bool = False
    #: The SQL dialect; null takes the adapter's.
    dialect: str | None = None
    #: Which columns get an exposure.
    exposures: ExposureMode = ExposureMode.MARKED
    #: At most so many exposures; more are counted in a warning.
    exposures_limit: int = 50
    #: Publish SQL expressions.
    expressions: bool = True
    #: Record the SQL of each node beside its lineage; not without its expressions.
    queries: bool = True
    #: Decorate the docs site after ``dbt docs generate``.
    docs: bool = True
    #: Write the explorer's page with ``lineage-post build`` and after ``dbt docs generate``.
    explorer: bool = True
    #: Where the project's files are on the web, such as https://host/team/shop/blob/main/{path}.
    repository: str | None = None
    #: Packages whose nodes are traced through but not published.
    exclude_packages: tuple[str, ...] = ()
    #: Functions that mask beside the built-in ones.
    masking_functions: tuple[str, ...] = ()
    #: Declared contracts of UDFs and table functions: name -> {inputs, outputs}.
    commands: Mapping[str, Any] = field(default_factory=dict)
    #: A statement that loads rows is at most so many bytes.
    batch_bytes: int = 900_000
    #: A claim not confirmed for so many days is stale; 0: never. A number, or by producer with
    #: ``default`` for the others.
    stale_after_days: Mapping[str, Any] | int = 0
    #: Versions of inputs that only the project knows, a lakeFS or DVC commit: by unique_id, by
    #: ``source.table`` or by the name of a source.
    commits: Mapping[str, Any] = field(default_factory=dict)
    #: Keep traces between runs under target/lineage_post.
    cache: bool = True
    #: Processes for cold work; 0 takes the number of cores.
    processes: int = 0


#: An option in the environment: LINEAGE_POST_STRICT=true.
ENVIRONMENT_PREFIX = "LINEAGE_POST_"

_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
#: What LINEAGE_POST_EXPLORER says to an installation, whose image dbt may run in.
_WORDS_OF_EXPLORER = {"require": True, "skip": False}


def gather_options(
    *,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
    where: str = "vars: lineage_post",
) -> Options:
    """One value of all settings: flags that are not None, environment, vars, then defaults.

    ``variables`` is the ``lineage_post`` block under dbt's vars, ``where`` its name in a message.
    Raises OptionError naming where a wrong value stands.
    """
    settings = _settings(variables or {}, where)
    settings.update(_from_environment(environ or {}))
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    settings.update(_settings(given, "command line"))
    return Options(**settings)


def options_in_dbt(variables: Mapping[str, Any]) -> Options:
    """The options within dbt: the environment, then the ``lineage_post`` var as dbt rendered it."""
    return gather_options(environ=os.environ, variables=variables, where="the var lineage_post")


def is_strict_in_dbt(variables: Mapping[str, Any]) -> bool:
    """Whether a fault fails the run: to be told before the options, which may be at fault."""
    text = os.environ.get(f"{ENVIRONMENT_PREFIX}STRICT")
    return (_parsed("strict", text) if text else variables.get("strict")) is True


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """What to say of variables that begin like an option and are none: a slip of the pen would
    otherwise leave the default, unseen. A policy may name the variable of a token as it likes."""
    known = {ENVIRONMENT_PREFIX + option.name.upper() for option in fields(Options)}
    found = []
    for name in sorted(environ):
        upper = name.upper()
        if upper.startswith(ENVIRONMENT_PREFIX) and not (name in known or upper.endswith("_TOKEN")):
            near = get_close_matches(upper, sorted(known), n=1, cutoff=0.8)
            told = f"; did you mean {near[0]}?" if near else ""
            found.append(f"the environment variable {name} is no option and does nothing{told}")
    return found


def project_variables(project_dir: Path) -> dict[str, Any]:
    """The ``lineage_post`` block under ``vars`` of a dbt_project.yml; empty where there is none.

    The text is not rendered: an option that is Jinja must be given by flag or environment.
    """
    import yaml  # Not needed in dbt's process, which has rendered the vars.

    path = project_dir / "dbt_project.yml"
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise OptionError(
            f"{path}: not readable: {error}", hint="Run dbt parse to see why."
        ) from error
    variables = document.get("vars") if isinstance(document, dict) else None
    if not isinstance(variables, dict):
        return {}
    # dbt puts the vars of a project's own name before those of all.
    own = variables.get(document.get("name"))
    scopes = (own if isinstance(own, dict) else {}, variables)
    blocks = [scope["lineage_post"] for scope in scopes if "lineage_post" in scope]
    return dict(blocks[0]) if blocks and isinstance(blocks[0], dict) else {}


def _settings(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = {f.name for f in fields(Options)}
    settings: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            near = get_close_matches(str(name), sorted(known), n=1)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise OptionError(
                f"{where}: there is no option {name!r}",
                hint=f"{meant}The options are {', '.join(sorted(known))}.",
            )
        settings[name] = _converted(name, value, where)
    return settings


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in fields(Options):
        name = ENVIRONMENT_PREFIX + option.name.upper()
        text = environ.get(name)
        if text:
            found[option.name] = _converted(option.name, _parsed(option.name, text), name)
    return found


def _parsed(name: str, text: str) -> Any:
    """The value an environment variable's text stands for; what is none is left to be refused."""
    default = getattr(Options(), name)
    if isinstance(default, bool):
        words = {**_WORDS, **_WORDS_OF_EXPLORER} if name == "explorer" else _WORDS
        return words.get(text.strip().lower(), text)
    if isinstance(default, int):
        if text.lstrip().startswith("{"):
            return _parsed("commands", text)
        return int(text) if text.strip().isdigit() else text
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, Mapping):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _converted(name: str, value: Any, where: str) -> Any:
    default = getattr(Options(), name)
    if name == "stale_after_days" and isinstance(value, Mapping):
        return {key: _converted(name, days, where) for key, days in value.items()}
    if isinstance(default, ExposureMode):
        choices = [mode.value for mode in ExposureMode]
        if value not in choices:
            raise OptionError(
                f"{where}: {name} is {value!r}", hint=f"It must be one of {', '.join(choices)}."
            )
        return ExposureMode(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise OptionError(f"{where}: {name} is {value!r}", hint="It must be true or false.")
        return value
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise OptionError(f"{where}: {name} is {value!r}", hint="It must be a whole number.")
        return value
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise OptionError(f"{where}: {name} is {value!r}", hint="It must be a list of names.")
        return tuple(value)
    if isinstance(default, Mapping):
        if not isinstance(value, Mapping):
            raise OptionError(f"{where}: {name} is {value!r}", hint="It must be a mapping.")
        if name == "commands":
            for command, contract in value.items():
                _check_command(command, contract, where)
        return dict(value)
    if value is not None and not isinstance(value, str):
        raise OptionError(f"{where}: {name} is {value!r}", hint="It must be a name.")
    return value


def _check_command(command: str, contract: Any, where: str) -> None:
    """Raises OptionError for the contract of a function that would say nothing."""
    hint = f"Write {command}: {{inputs: [a, b], outputs: [c]}}; inputs may be left out."
    if not isinstance(contract, Mapping) or not contract:
        raise OptionError(f"{where}: the command {command} is {contract!r}", hint=hint)
    for key, names in contract.items():
        if key not in ("inputs", "outputs"):
            raise OptionError(f"{where}: the command {command} has no {key!r}", hint=hint)
        if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
            raise OptionError(f"{where}: {key} of the command {command} is {names!r}", hint=hint)
