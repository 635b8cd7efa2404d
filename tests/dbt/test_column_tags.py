"""Labels of columns in the warehouse."""

from __future__ import annotations

from tests.dbt.dbt_project import DbtProject, short

#: Beside the name of the source's table.
COLUMNS = """\
        columns:
          - name: EMAIL
            config: {tags: [pii]}
"""


def test_a_label_is_seen_by_the_build_that_declares_it_and_stops_at_a_mask(
    project: DbtProject,
) -> None:
    schema = (project.folder / "models" / "schema.yml").read_text(encoding="utf-8")
    labelled = schema.replace("- name: customers\n", "- name: customers\n" + COLUMNS)
    assert labelled != schema
    project.write("models/schema.yml", labelled)
    result = project.dbt("run", "--select", "lineage_column_tags")
    assert result.code == 0, "\n".join(result.lines)
    columns = "node, column_name, label, is_declared, distance"
    rows = project.table("lineage_column_tags", columns)
    assert [(short(n), *rest) for n, *rest in rows] == [
        ("stg_customers", "email", "pii", False, 1),
        ("app.customers", "EMAIL", "pii", True, 0),
    ]
