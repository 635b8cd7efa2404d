"""``lineage-post exposures``: the exposures as YAML in the user's own project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import LineageError, OptionError
from lineage_post.publish import json
from lineage_post.publish.exposures import ExposureSet, exposure_set
from lineage_post.publish.exposures_yaml import exposures_yaml, is_ours
from lineage_post.publish.text_file import write_text

FILE = Path("models/lineage_post_exposures.yml")


@click.command("exposures")
@artifact_options
@click.option("--write", is_flag=True, help=f"Write them, to {FILE.as_posix()} unless --file says.")
@click.option("--file", "file", metavar="FILE", help="The YAML file, below the project's folder.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(places: Places, request: Request, write: bool, file: str | None, output: str) -> None:
    """List one exposure per column that the project marks, or write them into YAML.

    The hook puts them into dbt's manifest by itself; a file is for those who want them reviewed
    and in version control. A model that is gone is left out of it, so dbt goes on working.
    """
    if file and not write:
        raise click.UsageError("--file is where --write puts them.")
    loaded = load(places, request)
    found = exposure_set(loaded.lineage, loaded.options)
    if found.warning:
        console.warn(found.warning)
    if write:
        _write(loaded, found, _path_in_project(places, file) if file else places.project_dir / FILE)
    elif output == "json":
        console.say_json(_document(loaded, found))
    else:
        _list(loaded, found)


def _path_in_project(places: Places, file: str) -> Path:
    """The file that --file names. Raises OptionError for one that dbt would not read: outside of
    the project, or no YAML; where it is not below the model paths that is a warning."""
    root = Path(os.path.abspath(places.project_dir))
    path = Path(os.path.abspath(root / Path(file).expanduser()))
    if not path.is_relative_to(root):
        raise OptionError(
            f"--file {file}: it is not in the project, {root}",
            hint=f"Name a file below it, such as {FILE.as_posix()}.",
        )
    if path.suffix not in (".yml", ".yaml"):
        raise OptionError(
            f"--file {file}: dbt reads exposures from .yml and .yaml files",
            hint=f"Name one such as {FILE.as_posix()}.",
        )
    read = places.project_yml().get("model-paths") or ["models"]
    if not any(path.is_relative_to(os.path.abspath(root / str(folder))) for folder in read):
        folders = ", ".join(map(str, read))
        console.warn(f"{file} is not below {folders}, where dbt looks for exposures")
    return path


def _write(loaded: Loaded, found: ExposureSet, path: Path) -> None:
    shown = loaded.places.shown(path)
    if path.exists() and not is_ours(path):
        raise LineageError(
            f"{shown} was not written by this command, so it is left alone.",
            hint="Name another file with --file, or move that one away.",
        )
    text = exposures_yaml(found.specs, loaded.lineage.project) if found.specs else ""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text and not path.exists():
        console.say("Nothing to write: no column gets an exposure.")
    elif text == before:
        console.say(f"{console.marked(shown)} is up to date.")
    elif text:
        write_text(path, text)
        console.say(
            f"Wrote {wording.plural(len(found.specs), 'exposure')} to {console.marked(shown)}."
        )
    else:
        path.unlink()
        console.say(f"Removed {console.marked(shown)}: no column gets an exposure.")


def _list(loaded: Loaded, found: ExposureSet) -> None:
    if not found.specs:
        console.say(
            f"No column gets an exposure: the option is exposures: {loaded.options.exposures}. "
            "Mark one with config: {meta: {lineage: {expose: true}}}."
        )
    for spec in found.specs:
        nodes = [wording.node_name(loaded.lineage, node) for node in spec.depends_on]
        name, label = console.marked(spec.name), console.marked(spec.label)
        console.say(f"[column]{label}[/] [quiet]exposure:{name}[/]")
        console.say(f"  {console.marked(', '.join(nodes))}")


def _document(loaded: Loaded, found: ExposureSet) -> dict[str, Any]:
    return {
        "metadata": json.metadata_of(loaded.lineage.project, loaded.options),
        "exposures": [
            {
                "name": spec.name,
                "label": spec.label,
                "type": spec.type,
                "description": spec.description,
                "depends_on": list(spec.depends_on),
                "owner": {"name": spec.owner_name, "email": spec.owner_email},
                "url": spec.url,
                "tags": list(spec.tags),
                "meta": dict(spec.meta),
            }
            for spec in found.specs
        ],
        "left_out": found.left_out,
    }
