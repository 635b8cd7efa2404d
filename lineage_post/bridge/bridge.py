"""The object in ``graph['lineage_post']``. Whatever goes wrong in it is one line, never a raise."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.bridge.loading import Load, commit, run_statement
from lineage_post.bridge.say import describe, detail, guarded, tell, warn

if TYPE_CHECKING:
    from lineage_post.bridge.asking import Answered
    from lineage_post.bridge.contracts import ContractBook
    from lineage_post.bridge.observed import Existence


class Bridge(dict[str, Any]):
    """Called by the macros and the plugin.

    A dict, so that other packages can still render ``graph`` as JSON; it stays itself when dbt
    copies the graph, and empty when dbt pickles it.
    """

    def __init__(self, manifest: Any = None) -> None:
        super().__init__()
        self.manifest = manifest
        self._existence: Existence | None = None
        #: What answers contract tests, made by the first of them.
        self.contracts: ContractBook | None = None
        #: The nodes that this command has begun to build.
        self.started: set[str] = set()

    def __deepcopy__(self, memo: object) -> Bridge:
        return self

    def __reduce__(self) -> tuple[type[Bridge], tuple[()]]:
        return Bridge, ()

    @property
    def adapter(self) -> Any:
        from dbt.adapters import factory

        find: Any = factory.get_adapter_by_type
        return find(self.manifest.metadata.adapter_type)

    @property
    def target_path(self) -> Path:
        config = self.adapter.config
        return Path(str(config.project_root), str(config.project_target_path))

    def publish(
        self, results: Iterable[Any], settings: Mapping[str, Any], timestamp_type: str
    ) -> Load:
        """Traces what the run built, and says what to append to the base tables."""
        from lineage_post.bridge import publishing

        return self._begin(
            settings,
            lambda load, options: publishing.publish(
                self, load, list(results or ()), options, timestamp_type
            ),
        )

    def load(self, directory: str | None, settings: Mapping[str, Any], timestamp_type: str) -> Load:
        """Says what to append of the rows that ``lineage-post build`` wrote."""
        from lineage_post.bridge import requested

        return self._begin(
            settings,
            lambda load, options: requested.load_files(
                self, load, directory, options, timestamp_type
            ),
        )

    def purge(
        self,
        producer: str,
        node: str | None,
        own: bool,
        settings: Mapping[str, Any],
        timestamp_type: str,
    ) -> Load:
        """Says what to append so that the claims of one producer are retired."""
        from lineage_post.bridge import requested

        asked = requested.Purge(str(producer), node and str(node), own is True)
        return self._begin(
            settings,
            lambda load, options: requested.purge(self, load, asked, options, timestamp_type),
        )

    def why(self, model: str, where: str, arguments: Mapping[str, Any]) -> Answered:
        """Which source rows the rows of a model come from, asked on dbt's connection."""
        from lineage_post.bridge import asking

        return asking.why(self, model, where, arguments)

    def contract(
        self,
        kind: str,
        unique_id: str,
        arguments: Mapping[str, Any],
        settings: Mapping[str, Any],
        timestamp_type: str,
    ) -> list[dict[str, str]]:
        """The failing rows of a contract test; none where the contract holds. Never raises."""
        from lineage_post.bridge import contracts

        return contracts.rows(self, kind, unique_id, arguments, settings, timestamp_type)

    def tell_findings(self, rows: Sequence[Mapping[str, str]], file: str) -> None:
        """One line for each failing row of a contract test, the first ones. Never raises."""
        from lineage_post.bridge import contracts

        guarded(lambda: contracts.tell_findings(rows, file))

    def named_columns(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Who names which column in YAML, for the view of unused columns. Never raises."""
        from lineage_post.bridge import naming

        return naming.rows(self, settings)

    def _begin(self, settings: Mapping[str, Any], work: Callable[[Load, Any], None]) -> Load:
        from lineage_post.options import is_strict_in_dbt, options_in_dbt, unknown_variables

        load = Load(strict=is_strict_in_dbt(settings))
        for unknown in unknown_variables(os.environ):
            warn(unknown)
        try:
            options = options_in_dbt(settings)
            if options.enabled:
                work(load, options)
        except Exception as error:
            self._failed(load, error)
        return load

    def execute(self, load: Load, sql: str, parameter: str | None = None) -> None:
        """Runs one statement of a load; after a failure the rest is left alone."""
        if load.error is not None or load.warehouse is None:
            return
        try:
            run_statement(load, sql, parameter)
        except Exception as error:
            self._failed(load, error)

    def finish(self, load: Load) -> None:
        """Commits a load, or reports what went wrong with it."""
        try:
            if load.warehouse is not None and load.error is None:
                commit(load)
                if load.summary:
                    tell(load.summary)
        except Exception as error:
            self._failed(load, error)

    def _failed(self, load: Load, error: Exception) -> None:
        import traceback

        load.error = f"lineage_post: {describe(error)}"
        load.fails = load.strict
        load.batches.clear()
        detail("".join(traceback.format_exception(error)))
        if load.warehouse is not None:
            guarded(load.warehouse.rollback)
        if not load.strict:
            warn(f"{describe(error)}. Lineage of this run was not recorded.")

    @property
    def existence(self) -> Existence:
        """What is known of relations from before they were built."""
        if self._existence is None:
            from lineage_post.bridge.observed import Existence

            self._existence = Existence(self.manifest)
        return self._existence

    def before_node(self, unique_id: str) -> None:
        """A node is about to be built."""
        self.started.add(unique_id)
        self.existence.look(unique_id, self.adapter)

    def inject_last_exposures(self) -> None:
        """The last run's exposures, before dbt selects nodes."""
        from lineage_post.bridge import publishing

        publishing.inject_last_exposures(self)

    def after_docs(self, catalog_path: str) -> None:
        """dbt docs generate has written its files."""
        from lineage_post.bridge import publishing

        guarded(lambda: publishing.decorate(Path(catalog_path).parent))
