"""The answers of why as they are printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_post.cli.loading import Loaded
from lineage_post.cli.places import Places
from lineage_post.cli.why import _Shown as Shown
from lineage_post.options import Options
from lineage_post.provenance.answer import Explained, Label

from .lineages import lineage_of
from .manifests import make_model


@pytest.mark.parametrize(("everything", "shown", "left"), [(False, 3 + 1, 5), (True, 8 + 1, 0)])
def test_rows_that_are_refused_for_one_reason_are_counted(
    everything: bool, shown: int, left: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lineage = lineage_of(make_model("m", "select 1 as a"))
    places = Places(tmp_path, tmp_path)
    loaded = Loaded(lineage, lineage, Options(), places, tmp_path / "manifest.json")
    rows = [
        Explained("model.shop.m", {"a": n}, Label.REFUSED, refusal="a Python model")
        for n in range(8)
    ]
    rows.append(Explained("model.shop.m", {"a": 9}, Label.REFUSED, refusal="another reason"))
    Shown(loaded, {"everything": everything, "sample": 20}).show_all(rows)
    out = capsys.readouterr().out
    assert out.count("refused:") == shown and "refused: another reason" in out
    assert (f"and {left} more rows, refused as well: a Python model" in out) is bool(left)
