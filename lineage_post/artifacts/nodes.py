"""One resource of a manifest as a Node."""

from __future__ import annotations

import re
from typing import Any

from lineage_post.artifacts.access import getter, mapping, slashed, take, text, texts
from lineage_post.artifacts.consumer_details import CONSUMER_DETAILS, constraint_details
from lineage_post.artifacts.decoration import ADDED_KEY, META_KEY, own_text
from lineage_post.artifacts.hooks import hooks_of, named_in_hooks
from lineage_post.artifacts.model import DeclaredColumn, InlinedCte, Node, RelationName
from lineage_post.artifacts.names import stored_name
from lineage_post.artifacts.native import (
    freshness_of,
    native_of_file,
    native_of_source,
    without_credentials,
)

#: The settings that are kept. Named one by one, so that nothing a user puts into a config by
#: mistake (a token in a custom key) travels any further.
CONFIG_KEYS = (
    "batch_size",
    "begin",
    "check_cols",
    "cluster_by",
    "column_types",
    "contract",
    "dbt_valid_to_current",
    "delimiter",
    "dist",
    "distributed_by",
    "event_time",
    "file_format",
    "full_refresh",
    "hard_deletes",
    "incremental_strategy",
    "indexes",
    "invalidate_hard_deletes",
    "latest_version_pointer",
    "liquid_clustered_by",
    "location",
    "materialized",
    "merge_exclude_columns",
    "merge_update_columns",
    "on_schema_change",
    "order_by",
    "partition_by",
    "primary_key",
    "quote_columns",
    "row_access_policy",
    "row_filter",
    "snapshot_meta_column_names",
    "sort",
    "strategy",
    "table_format",
    "unique_key",
    "updated_at",
    "zorder",
)

_CTE_HEAD = re.compile(r"\s*[\"`\[]?([^\s\"`\]]+)[\"`\]]?\s+as\s*\(", re.IGNORECASE)


class NodeReader:
    """Reads resources of one manifest: ``NodeReader("duckdb", {}).read(unique_id, resource)``."""

    def __init__(self, adapter_type: str, group_owners: dict[str, str]) -> None:
        self.adapter_type = adapter_type
        self.group_owners = group_owners

    def read(self, unique_id: str, resource: Any) -> Node:
        """The node of a resource, which is parsed JSON or one of dbt's objects."""
        get = getter(resource)
        config = get("config") or {}
        kind = text(get("resource_type")) or unique_id.split(".", 1)[0]
        materialized = text(_setting(config, "materialized"))
        relation_name = text(get("relation_name"))
        meta = {**mapping(take(config, "meta")), **mapping(get("meta"))}
        meta.pop(META_KEY, None)
        group = text(get("group") or _setting(config, "group"))
        version = text(get("version"))
        depends_on = get("depends_on") or {}
        return Node(
            unique_id=unique_id,
            name=str(get("name") or unique_id.rsplit(".", 1)[-1]),
            resource_type=kind,
            package_name=str(get("package_name") or ""),
            path=slashed(take(resource, "original_file_path", "path")),
            relation=self._relation(resource, kind, materialized, relation_name),
            relation_name=relation_name,
            materialized=materialized,
            language=text(get("language")) or "sql",
            raw_code=str(take(resource, "raw_code", "raw_sql") or ""),
            compiled_code=text(take(resource, "compiled_code", "compiled_sql")),
            checksum=_checksum(get("checksum")),
            depends_on=texts(take(depends_on, "nodes")),
            columns=_columns(get("columns")),
            description=str(get("description") or ""),
            meta=meta,
            tags=_tags(resource, config),
            config=_config(config),
            owner=self._owner(resource, meta, group),
            access=text(get("access") or _setting(config, "access")),
            group=group,
            version=version,
            is_latest_version=version is not None and version == text(get("latest_version")),
            defer_relation=self._defer_relation(get("defer_relation")),
            patch_path=slashed(get("patch_path")) or None,
            url=text(get("url")),
            label=text(get("label")),
            fqn=texts(get("fqn")),
            ctes=_ctes(get("extra_ctes")),
            macros=texts(take(depends_on, "macros")),
            root_path=text(get("root_path")),
            details=_details(resource, kind),
            hooks=hooks_of(resource, config, kind),
            native=_native(resource, kind, meta, config),
        )

    def _relation(
        self, resource: Any, kind: str, materialized: str | None, relation_name: str | None
    ) -> RelationName | None:
        if materialized == "ephemeral" or (
            relation_name is None and kind not in ("model", "snapshot", "seed", "source")
        ):
            return None
        identifier = text(take(resource, "identifier") if kind == "source" else None)
        declared = RelationName(
            text(take(resource, "database")),
            text(take(resource, "schema")),
            identifier or text(take(resource, "alias", "name")) or "",
        )
        return stored_name(relation_name, declared, self.adapter_type)

    def _defer_relation(self, relation: Any) -> RelationName | None:
        if not relation:
            return None
        declared = RelationName(
            text(take(relation, "database")),
            text(take(relation, "schema")),
            text(take(relation, "alias", "identifier")) or "",
        )
        return stored_name(text(take(relation, "relation_name")), declared, self.adapter_type)

    def _owner(self, resource: Any, meta: dict[str, Any], group: str | None) -> str | None:
        owner = take(resource, "owner") or meta.get("owner")
        if owner is not None and not isinstance(owner, str):
            owner = take(owner, "name", "email")
        return text(owner) or self.group_owners.get(group or "")


def _setting(config: Any, key: str) -> Any:
    """A setting; adapters' own ones stand beside the named attributes of a live config."""
    if isinstance(config, dict):
        return config.get(key)
    value = getattr(config, key, None)
    return value if value is not None else mapping(getattr(config, "_extra", None)).get(key)


def _config(config: Any) -> dict[str, Any]:
    if isinstance(config, dict):
        found = {key: _plain(config[key]) for key in CONFIG_KEYS if key in config}
    else:
        found = {key: _plain(_setting(config, key)) for key in CONFIG_KEYS}
    if isinstance(found.get("location"), str):
        found["location"] = without_credentials(found["location"])
    return {k: value for k, value in found.items() if value is not None and value not in ({}, [])}


def _plain(value: Any) -> Any:
    """A setting as JSON has it, without the keys that dbt 2 leaves out."""
    if value is None or isinstance(value, (bool, int, str, list)):
        return value
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if v is not None}
    return text(value)


def _columns(columns: Any) -> tuple[DeclaredColumn, ...]:
    return tuple(
        _column(name, column)
        for name, column in mapping(columns).items()
        if not take(column, ADDED_KEY)
    )


def _column(name: str, column: Any) -> DeclaredColumn:
    get = getter(column)
    config = get("config") or {}
    own, set_ = get("meta"), take(config, "meta")
    return DeclaredColumn(
        name=str(get("name") or name),
        data_type=text(get("data_type")),
        description=own_text(str(get("description") or "")),
        meta={**mapping(set_), **mapping(own)} if own or set_ else {},
        tags=_tags(column, config),
    )


def _tags(resource: Any, config: Any) -> tuple[str, ...]:
    own, set_ = texts(take(resource, "tags")), texts(_setting(config, "tags"))
    return tuple(dict.fromkeys(own + set_)) if own or set_ else ()


def _checksum(checksum: Any) -> str | None:
    # Unit tests carry the bare digest; a seed over 1 MB carries its path, which is no checksum.
    if checksum is None or isinstance(checksum, str):
        return checksum or None
    return text(take(checksum, "checksum")) if take(checksum, "name") == "sha256" else None


def _ctes(ctes: Any) -> tuple[InlinedCte, ...]:
    found = []
    for cte in ctes or ():
        sql = str(take(cte, "sql") or "")
        head = _CTE_HEAD.match(sql)
        if head is not None:
            body = sql[head.end() : sql.rindex(")")].strip()
            found.append(InlinedCte(str(take(cte, "id")), head.group(1), body))
    return tuple(found)


def _details(resource: Any, kind: str) -> dict[str, Any]:
    readers = {
        "exposure": _exposure_details,
        "test": _test_details,
        "source": _source_details,
        **CONSUMER_DETAILS,
    }
    found = readers.get(kind, constraint_details)(resource)
    if kind in ("model", "seed", "snapshot"):
        found["named_in_hooks"] = named_in_hooks(take(resource, "config") or {})
    return {key: value for key, value in found.items() if value}


def _exposure_details(resource: Any) -> dict[str, Any]:
    return {
        "type": text(take(resource, "type")),
        "maturity": text(take(resource, "maturity")),
        "email": text(take(take(resource, "owner") or {}, "email")),
    }


def _test_details(resource: Any) -> dict[str, Any]:
    metadata = take(resource, "test_metadata") or {}
    config = take(resource, "config") or {}
    return {
        "test": text(take(metadata, "name")),
        "namespace": text(take(metadata, "namespace")),
        **{key: text(_setting(config, key)) for key in ("severity", "error_if", "warn_if")},
        "kwargs": mapping(take(metadata, "kwargs")),
        "where": text(_setting(config, "where")),
        "column": text(take(resource, "column_name")),
        "attached_node": text(take(resource, "attached_node")),
    }


def _source_details(resource: Any) -> dict[str, Any]:
    return {
        "source_name": text(take(resource, "source_name")),
        "loader": text(take(resource, "loader")),
        "freshness": freshness_of(resource),
    }


def _native(resource: Any, kind: str, meta: dict[str, Any], config: Any) -> dict[str, Any]:
    if kind == "source":
        above = mapping(take(resource, "source_meta"))
        return native_of_source(resource, {**above, **meta})
    if kind == "seed":
        return native_of_file(slashed(take(resource, "original_file_path", "path")))
    location = _setting(config, "location") if kind == "model" else None
    return native_of_file(location) if isinstance(location, str) else {}
