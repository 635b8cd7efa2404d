"""Every setting, gathered once from flags, environment and dbt vars into one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lineage_post.errors import OptionError
from lineage_post.vocabulary import ExposureMode


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one run; names are those of the ``lineage_post`` block under ``vars``."""

    #: False: the hook does nothing.
    enabled: bool = True
    #: A fault of ours fails the run instead of warning.
    strict: bool = False
    #: The SQL dialect; None takes the adapter's.
    dialect: str | None = None
    #: Which columns get an exposure.
    exposures: ExposureMode = ExposureMode.MARKED
    #: At most so many exposures; more are counted in a warning.
    exposures_limit: int = 50
    #: Publish SQL expressions.
    expressions: bool = True
    #: Decorate the docs site after ``dbt docs generate``.
    docs: bool = True
    #: Packages whose nodes are traced through but not published.
    exclude_packages: tuple[str, ...] = ()
    #: Functions that mask beside the built-in ones.
    masking_functions: tuple[str, ...] = ()
    #: Declared contracts of UDFs and table functions: name -> {inputs, outputs}.
    commands: Mapping[str, Any] = field(default_factory=dict)
    #: A statement that loads rows is at most so many bytes.
    batch_bytes: int = 250_000
    #: Keep traces between runs under target/lineage_post.
    cache: bool = True
    #: Processes for cold work; 0 takes the number of cores.
    processes: int = 0


def options_from_mapping(values: Mapping[str, Any], *, where: str) -> Options:
    """Options from a mapping such as the ``lineage_post`` var. Raises OptionError naming ``where``."""
    known = {f.name: f for f in fields(Options)}
    settings: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise OptionError(
                f"{where}: there is no option {name!r}",
                hint=f"The options are {', '.join(sorted(known))}.",
            )
        settings[name] = _converted(name, value, where)
    return Options(**settings)


def _converted(name: str, value: Any, where: str) -> Any:
    default = getattr(Options(), name)
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
        return dict(value)
    if value is not None and not isinstance(value, str):
        raise OptionError(f"{where}: {name} is {value!r}", hint="It must be a name.")
    return value
