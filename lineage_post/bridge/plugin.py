"""The dbt plugin: keeps the live Manifest, hands the bridge to Jinja, and follows dbt's events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.plugins.manager import dbt_hook, dbtPlugin

from lineage_post.bridge.bridge import Bridge
from lineage_post.bridge.say import dbt_flags, guarded, warn

#: What a macro logs when ``graph`` has lost the bridge, as it has after --defer rebuilt it.
ATTACH = "lineage_post:attach"
KEY = "lineage_post"


class LineagePostPlugin(dbtPlugin):
    """One instance for each dbt command; dbt offers plugins no other place to keep state."""

    def initialize(self) -> None:
        _CURRENT.start()

    @dbt_hook  # type: ignore[untyped-decorator]
    def get_manifest_artifacts(self, manifest: Any) -> dict[str, Any]:
        """Called with the live Manifest after it was parsed and before nodes are selected."""
        _CURRENT.use(manifest)
        return {}


class _Current:
    """The command that runs now in this process: dbt's runner may run several, one by one."""

    def __init__(self) -> None:
        self.bridge: Bridge | None = None

    def start(self) -> None:
        self.bridge = None
        guarded(self._start)

    def _start(self) -> None:
        from dbt_common.events.event_manager_client import (
            add_callback_to_manager,
            get_event_manager,
        )

        if on_event not in get_event_manager().callbacks:
            add_callback_to_manager(on_event)
        flags = dbt_flags()
        # dbt docs generate shows plugins nothing else; others say below where their target is.
        root, target = getattr(flags, "PROJECT_DIR", None), getattr(flags, "TARGET_PATH", None)
        self._keep_results(Path(root or ".", target or "target"))
        if getattr(flags, "WHICH", None) == "serve":
            from lineage_post.bridge.site import serve_decorated

            serve_decorated()

    def use(self, manifest: Any) -> None:
        self.bridge = bridge = Bridge(manifest)
        self.attach()
        guarded(bridge.inject_last_exposures)
        guarded(lambda: self._keep_results(bridge.target_path))

    def _keep_results(self, target_path: Path) -> None:
        from lineage_post.bridge.results import keep_results

        if getattr(dbt_flags(), "WRITE_JSON", True):
            keep_results(target_path)

    def attach(self) -> None:
        bridge = self.bridge
        if bridge is not None and bridge.manifest is not None:
            bridge.manifest.flat_graph[KEY] = bridge

    def see(self, event: str, message: Any) -> None:
        if event in ("JinjaLogDebug", "JinjaLogInfo"):
            if message.data.msg == ATTACH:
                self.attach()
        elif event == "CatalogWritten":
            # dbt docs generate shows plugins no Manifest; the files it wrote have it all.
            (self.bridge or Bridge()).after_docs(message.data.path)
        elif event == "NodeStart" and self.bridge is not None:
            self.bridge.before_node(message.data.node_info.unique_id)


_CURRENT = _Current()
_FOLLOWED = frozenset({"JinjaLogDebug", "JinjaLogInfo", "NodeStart", "CatalogWritten"})


def on_event(message: Any) -> None:
    """Called by dbt for each of its events, on the thread that fired it. Never raises."""
    try:
        event = message.info.name
        if event in _FOLLOWED:
            _CURRENT.see(event, message)
    except Exception as error:
        warn(f"{type(error).__name__}: {error}")
