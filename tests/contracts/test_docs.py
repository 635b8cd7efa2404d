"""What docs/contracts.md tells a user to write works as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dbt.conftest import DuckDb
from tests.dbt.dbt_project import ROOT, DbtProject

pytestmark = pytest.mark.dbt
DOCS = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
FILES = {
    "dbt_project.yml": "name: docs\nversion: '1.0'\nprofile: shop\n"
    "models: {lineage_post: {+enabled: false}}\n"
    "flags: {send_anonymous_usage_stats: false}\n",
    "packages.yml": "packages: [{local: lineage_post_package}]\n",
    "seeds/raw_customers.csv": "id,email\n1,a@b.c\n",
    "seeds/raw_orders.csv": "customer_id,amount\n1,3\n",
    "seeds/raw_payments.csv": "id,amount\n1,3\n",
    "models/stg_customers.sql": "select id, email from {{ ref('raw_customers') }}",
    "models/dim_customers.sql": """
        with orders as (
            select customer_id, sum(amount) as amount from {{ ref('raw_orders') }} group by 1
        )
        select id, md5(email) as email_hash, amount as lifetime_value
        from {{ ref('stg_customers') }} left join orders on id = customer_id
    """,
    "models/stg_customers.yml": "models: [{name: stg_customers, columns:"
    " [{name: email, config: {tags: [pii]}}]}]\n",
    "models/contracts.yml": BLOCKS[0],
}


class Documented(DbtProject):
    """A project whose contracts are the example of the docs."""

    def restore_files(self) -> None:
        for path, text in FILES.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            self.write(path, text)

    def hook(self, entry: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as pre-commit does: no shell but what the command itself starts."""
        folder = str(Path(sys.executable).parent)
        path = os.pathsep.join([folder, os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "DBT_PROFILES_DIR": str(self.folder)}
        command = shlex.split(entry)
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True
        )


def test_the_examples_are_what_dbt_asks_for_and_the_recipe_holds_them(tmp_path: Path) -> None:
    project = Documented(tmp_path / "docs", DuckDb(tmp_path))
    options = '{"error": ["Deprecations"]}'
    # In a process of its own: dbt remembers the deprecations of other tests' projects.
    done = project.hook(f"dbt parse --no-partial-parse --warn-error-options '{options}'")
    assert done.returncode == 0, done.stdout
    project.dbt("seed")
    (entry,) = [hook["entry"] for hook in _hooks()]
    done = project.hook(entry)
    assert done.returncode == 0 and "3 contracts, 3 hold" in done.stdout, done
    model = project.folder / "models" / "dim_customers.sql"
    model.write_text(model.read_text().replace("md5(email)", "lower(email)"))
    done = project.hook(entry)
    assert done.returncode == 1
    assert "stg_customers.email (tag pii) reaches it unmasked" in done.stdout
    assert "models/contracts.yml:" in done.stdout


def _hooks() -> list[dict[str, Any]]:
    configs = [c for c in map(yaml.safe_load, BLOCKS) if "repos" in c]
    return [hook for config in configs for repo in config["repos"] for hook in repo["hooks"]]


def test_the_workflow_runs_the_command_with_options_that_it_has() -> None:
    from lineage_post.cli.check import command

    options = {option for parameter in command.params for option in parameter.opts}
    (workflow,) = [c for c in map(yaml.safe_load, BLOCKS) if "jobs" in c]
    runs = [step.get("run", "").split() for step in workflow["jobs"]["contracts"]["steps"]]
    checks = [run for run in runs if run[:2] == ["lineage-post", "check"]]
    assert len(checks) == 2
    assert {word for run in checks for word in run if word.startswith("--")} <= options
