"""Puts the dbt package's own files into the wheel, so that both halves have one version."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DBT_PACKAGE = ("dbt_project.yml", "macros", "models")


class DbtPackageHook(BuildHookInterface):
    """Adds the files as ``lineage_post/_dbt_package/``.

    Not in an editable install: a copy there would grow stale beside the working tree.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"].update(
                {name: f"lineage_post/_dbt_package/{name}" for name in DBT_PACKAGE}
            )
