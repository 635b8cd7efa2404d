"""OpenLineage events of a run: who built what from what, with column lineage 1-2-0.

https://openlineage.io/docs/spec/object-model. A node that a run built has a START and a COMPLETE or
FAIL event; what no run builds (ephemeral models, SQL that was only compiled) is a job without a
run. The classes are those of the official client, and the same input gives the same events.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lineage_post import __version__
from lineage_post.artifacts import Node, NodeResult
from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage
from lineage_post.publish.run import BUILT_TYPES, Build, Run, planned_run
from lineage_post.values import Edge, NodeLineage
from lineage_post.vocabulary import Certainty, EdgeType, OpKind, State, Status

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset

#: The namespace of nodes that are no relation: ephemeral models, and nodes without a name.
DBT = "dbt"
PRODUCER = f"urn:lineage_post:{__version__}"
#: The facet that says how much is known; no facet of the specification has a word for it.
STATE_FACET, STATE_SCHEMA = "lineagePost_state", "urn:lineage_post:facets:state:1-0-0"
_FINAL = {Status.SUCCESS: "COMPLETE", Status.ERROR: "FAIL"}
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class Naming:
    """``namespace`` is that of the datasets; the default is the adapter's type, since a host's
    name stands in no artifact. Jobs are in ``job_namespace``, by default the project's name."""

    namespace: str
    job_namespace: str


def events_of(
    lineage: Lineage,
    run: Run | None,
    *,
    naming: Naming | None = None,
    results: Mapping[str, NodeResult] | None = None,
    command: str | None = None,
) -> Iterator[Any]:
    """The events of a run, and of what it did not build, in the order of their nodes.

    ``run`` None: nothing was run, and all that is known is a job. Raises LineageError where the
    client is not installed.
    """
    try:
        import openlineage.client  # noqa: F401
    except ImportError:
        raise LineageError(
            "The OpenLineage client is not installed.",
            hint="pip install 'dbt-lineage-post[openlineage]'",
        ) from None
    project = lineage.project
    chosen = naming or Naming(project.adapter_type, project.name)
    maker = _Maker(lineage, chosen, run, results or {}, command or "build")
    for unique_id in sorted(lineage.nodes):
        node = project.nodes.get(unique_id)
        if node is None or not lineage.is_published(unique_id):
            continue
        if node.resource_type in BUILT_TYPES or lineage.nodes[unique_id].edges:
            yield from maker.events(node, lineage.nodes[unique_id])


class _Maker:
    """Makes the events of one run."""

    def __init__(
        self,
        lineage: Lineage,
        naming: Naming,
        run: Run | None,
        results: Mapping[str, NodeResult],
        command: str,
    ) -> None:
        from openlineage.client import event_v2, facet_v2

        event_v2.set_producer(PRODUCER)
        self.v2, self.facets = event_v2, facet_v2
        self.lineage = lineage
        self.project = lineage.project
        self.naming = naming
        self.run = run or planned_run(self.project, ())
        self.results = results
        self.command = command

    def events(self, node: Node, lineage: NodeLineage) -> Iterator[Any]:
        build = self.run.builds.get(node.unique_id)
        inputs, job = self._inputs(lineage), self._job(node, lineage)
        final = _FINAL.get(build.status) if build is not None else None
        if build is None or final is None:
            if build is None or build.status is Status.PLANNED:
                outputs = [self._output(node, lineage)]
                at = _text(planned_run(self.project, [node.unique_id]).builds[node.unique_id])
                yield self.v2.JobEvent(
                    eventTime=_zoned(at), job=job, inputs=inputs, outputs=outputs
                )
            return
        is_done = final == "COMPLETE"
        outputs = [self._output(node, lineage if is_done else None)]
        result = self.results.get(node.unique_id)
        started = result.started_at if result and result.started_at else _text(build)
        ended = result.completed_at if result and result.completed_at else _text(build)
        for kind, at in (("START", started), (final, ended)):
            yield self.v2.RunEvent(
                eventTime=_zoned(at),
                run=self._run(node, kind),
                job=job,
                eventType=self.v2.RunState(kind),
                inputs=inputs,
                outputs=outputs if kind != "START" else [self._output(node, None)],
            )

    def _run(self, node: Node, kind: str) -> Any:
        parent_id = self.run.run_id
        if not _UUID.fullmatch(parent_id):
            parent_id = str(uuid.uuid5(uuid.NAMESPACE_URL, parent_id))
        p = self.facets.parent_run
        parent = p.ParentRunFacet(
            run=p.Run(parent_id),
            job=p.Job(self.naming.job_namespace, f"dbt.{self.project.name}.{self.command}"),
        )
        facets: dict[str, Any] = {"parent": parent}
        if self.project.dbt_version:
            facets["processing_engine"] = (
                self.facets.processing_engine_run.ProcessingEngineRunFacet(
                    version=self.project.dbt_version, name="dbt"
                )
            )
        if kind == "FAIL":
            # dbt's own message may hold values of the data, or an address with its password.
            facets["errorMessage"] = self.facets.error_message_run.ErrorMessageRunFacet(
                message="the build of this node failed; dbt's log says why",
                programmingLanguage="SQL" if node.language == "sql" else node.language,
            )
        run_id = uuid.uuid5(uuid.UUID(parent_id), node.unique_id)
        return self.v2.Run(str(run_id), facets)

    def _job(self, node: Node, lineage: NodeLineage) -> Job:
        facets: dict[str, Any] = {
            "jobType": self.facets.job_type_job.JobTypeJobFacet(
                processingType="BATCH", integration="DBT", jobType=node.resource_type.upper()
            )
        }
        if node.compiled_code and node.language == "sql" and self.lineage.options.expressions:
            facets["sql"] = self.facets.sql_job.SQLJobFacet(
                query=node.compiled_code,
                dialect=self.lineage.options.dialect or self.project.adapter_type,
            )
        if node.description:
            facets["documentation"] = self.facets.documentation_job.DocumentationJobFacet(
                description=node.description
            )
        if node.owner:
            o = self.facets.ownership_job
            facets["ownership"] = o.OwnershipJobFacet([o.Owner(node.owner)])
        return self.v2.Job(self.naming.job_namespace, node.unique_id, facets)

    def _inputs(self, lineage: NodeLineage) -> list[InputDataset]:
        read = {*lineage.inputs, *(e.from_node for e in lineage.edges)}
        return [
            self.v2.InputDataset(*self.dataset(unique_id), facets=self._describing(unique_id))
            for unique_id in sorted(read)
        ]

    def _output(self, node: Node, lineage: NodeLineage | None) -> OutputDataset:
        facets = self._describing(node.unique_id)
        if lineage is not None:
            if lineage.edges:
                facets["columnLineage"] = self._column_lineage(lineage.edges)
            facets[STATE_FACET] = self._state(lineage)
        return self.v2.OutputDataset(*self.dataset(node.unique_id), facets=facets)

    def dataset(self, unique_id: str) -> tuple[str, str]:
        """Namespace and name of the dataset that a node is."""
        if unique_id.startswith("external."):
            return self.naming.namespace, unique_id.removeprefix("external.")
        node = self.project.nodes.get(unique_id)
        if node is None or node.relation is None:
            return DBT, unique_id
        return self.naming.namespace, str(node.relation)

    def _describing(self, unique_id: str) -> dict[str, Any]:
        """The facets of a dataset that hold whoever reads or writes it."""
        namespace, _ = self.dataset(unique_id)
        d = self.facets.datasource_dataset
        facets: dict[str, Any] = {
            "dataSource": d.DatasourceDatasetFacet(name=namespace, uri=f"urn:{_urn(namespace)}")
        }
        node, lineage = self.project.nodes.get(unique_id), self.lineage.nodes.get(unique_id)
        if lineage is not None and lineage.columns:
            facets["schema"] = self._schema(node, lineage)
        if node is not None and node.owner:
            o = self.facets.ownership_dataset
            facets["ownership"] = o.OwnershipDatasetFacet([o.Owner(node.owner)])
        tags = list(self._tags(node)) if node is not None else []
        if tags:
            facets["tags"] = self.facets.tags_dataset.TagsDatasetFacet(tags)
        return facets

    def _schema(self, node: Node | None, lineage: NodeLineage) -> Any:
        s = self.facets.schema_dataset
        declared = {c.name.casefold(): c.description for c in (node.columns if node else ())}
        return s.SchemaDatasetFacet(
            [
                s.SchemaDatasetFacetFields(
                    column.name,
                    type=column.data_type,
                    description=declared.get(column.name.casefold()) or None,
                    ordinal_position=column.ordinal,
                )
                for column in lineage.columns
                if column.is_column and column.name
            ]
        )

    def _tags(self, node: Node) -> Iterator[Any]:
        tag = self.facets.tags_dataset.TagsDatasetFacetFields
        for name in node.tags:
            yield tag(name, "true", source="DBT")
        for column in node.columns:
            for name in column.tags:
                yield tag(name, "true", source="DBT", field=column.name)

    def _column_lineage(self, edges: Iterable[Edge]) -> Any:
        c = self.facets.column_lineage_dataset
        by_target: dict[str | None, dict[tuple[str, str], list[Edge]]] = {}
        for edge in edges:
            name = f"{edge.from_column}.{edge.from_field}" if edge.from_field else edge.from_column
            sources = by_target.setdefault(edge.to_column, {})
            sources.setdefault((edge.from_node, name), []).append(edge)
        inputs = {
            target: [
                c.InputField(*self.dataset(node), name, [self._transformation(e) for e in found])
                for (node, name), found in sources.items()
            ]
            for target, sources in by_target.items()
        }
        whole = inputs.pop(None, [])
        fields = {target: c.Fields(found) for target, found in inputs.items() if target}
        return c.ColumnLineageDatasetFacet(fields=fields, dataset=whole)

    def _transformation(self, edge: Edge) -> Any:
        is_count = edge.type is EdgeType.DIRECT and any(
            op.kind is OpKind.SQL_FUNCTION and op.name.upper() in ("COUNT", "COUNT_IF")
            for op in edge.ops
        )
        found = self.facets.column_lineage_dataset.Transformation(
            edge.type.value,
            subtype=edge.subtype.value,
            description=edge.expression or "",
            # OpenLineage counts a COUNT among what masks; nothing else here does.
            masking=edge.masking or is_count,
        )
        # The specification lets a transformation say more, and these two have no word there.
        more: dict[str, Any] = {}
        if edge.certainty is Certainty.ASSUMED:
            more["certainty"] = edge.certainty.value
        if edge.ops:
            more["ops"] = [{"name": op.name, "kind": op.kind.value} for op in edge.ops]
        return found.with_additional_properties(**more) if more else found

    def _state(self, lineage: NodeLineage) -> Any:
        facet = self.facets.DatasetFacet().with_additional_properties(
            state=lineage.state.value,
            reason=lineage.reason.value if lineage.reason else None,
            unknownColumns=[
                {"name": c.name, "reason": c.reason.value if c.reason else None}
                for c in lineage.columns
                if c.state is not State.KNOWN
            ],
        )
        facet._schemaURL = STATE_SCHEMA
        return facet


def _text(build: Build) -> str:
    return build.refreshed_at.isoformat()


def _zoned(time: str) -> str:
    found = datetime.fromisoformat(time.replace("Z", "+00:00"))
    text = found.replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{text}Z"


def _urn(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9:._-]", "_", text)
