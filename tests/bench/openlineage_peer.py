"""Runs in the environment of openlineage-sql: its column lineage of every compiled model."""

import json
import sys

from openlineage_sql import parse  # type: ignore[import-not-found, unused-ignore]

with open(sys.argv[1], encoding="utf-8") as file:
    manifest = json.load(file)
edges = 0
for node in manifest["nodes"].values():
    if node.get("compiled_code"):
        meta = parse([node["compiled_code"]], dialect=manifest["metadata"]["adapter_type"])
        edges += sum(len(column.lineage) for column in meta.column_lineage) if meta else 0
print(edges)
