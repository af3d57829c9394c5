"""Who cites cutlayer finds all papers that it regenerates."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PAPERS = {
    file.parent.name: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in ROOT.glob("workflow/papers/*/paper.yaml")
}


def test_every_paper_is_a_reference_with_its_authors() -> None:
    ours = PAPERS.pop("arena")
    assert ours["authors"] == CITED["title"]
    authors = {one["title"]: ", ".join(name["family-names"] for name in one["authors"]) for one in CITED["references"]}
    assert authors == {paper["title"]: paper["authors"] for paper in PAPERS.values()}


def test_an_archive_has_the_names_and_the_license_of_the_citation() -> None:
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in archive["creators"]] == [one["name"] for one in CITED["authors"]]
    papers = [each["value"] for paper in CITED["references"] for each in paper.get("identifiers", [])]
    assert [one["identifier"] for one in archive["related_identifiers"]] == papers
    assert {archive[key] == CITED[key] for key in ("title", "license", "keywords")} == {True}
