"""Sentences of documents that state a finding name the rows or cells that they rest on, and these still say so.

    dp at epsilon 1 stays below 0.6. <!-- rests on arena: dp_stops_all holds -->

A comment names a paper and, between semicolons, its claims, the verdict, and after `on` the setups that have it;
without `on` every setup has it. What a comment says of a claim has to be all that the reference has, but for stand-ins:
a verdict that changed makes it false, and so does a dataset that was added. A check line with a limit, as claims have
them, rests on cells. `<exhibits> not run`, or `not run on <setups>`, holds until the reference has cells of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from tests.params import params

from cutlayer.ledger import cells, scales
from cutlayer.ledger.verdicts import FAILS, HOLDS, JUDGED, MARK, STAND_IN, WITHHELD, of_claim
from cutlayer.plan import families
from cutlayer.plan.check_lines import parsed
from cutlayer.reference import published
from cutlayer.site import documents, front

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", "docs/arena.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/papers/*.md"))]
COMMENT = re.compile(r"<!-- rests on (?P<paper>\w+): (?P<said>.*?) -->", flags=re.S)
WORDS = {"hold": HOLDS, "fail": FAILS} | {word: word for word in (*JUDGED, *WITHHELD)}
CLAUSE = re.compile(rf"(?:(?P<items>\w+(?:, \w+)*) )??(?P<verdict>{'|'.join(WORDS)})(?: on (?P<setups>\w+(?:, \w+)*))?")
NOT_RUN = re.compile(r"(?P<exhibits>\w+(?:, \w+)*) not run(?: on (?P<setups>\w+(?:, \w+)*))?")
EVIDENCE = ("<!-- rests on ", "tests/", "benchmarks/", "readings/", "reference/ledger.md")  # what a statement may name


@cache
def rows() -> pd.DataFrame:
    found = pd.read_csv(ROOT / "reference/claims.csv", dtype=str, keep_default_na=False)
    found = found[(found["kind"] != "number") & (found["verdict"] != STAND_IN)]
    return found.assign(verdict=found["verdict"].str.removesuffix(MARK))


def verdicts(paper: str, item: str, table: pd.DataFrame) -> dict[str, str]:
    """Setup -> verdict of a claim."""
    own = table[(table["paper"] == paper) & (table["item"] == item)]
    return dict(zip(own["setup"], own["verdict"], strict=True))


def wrong(paper: str, said: str, table: pd.DataFrame) -> Iterator[str]:
    """What a comment says that rows or cells do not."""
    told: dict[str, dict[str, str]] = {}
    items: list[str] = []
    for clause in " ".join(said.split()).split("; "):
        if re.search(r" (<=|>=|between) ", clause):
            yield from _of_cells(paper, clause)
            continue
        if awaited := NOT_RUN.fullmatch(clause):
            yield from _of_runs(paper, **awaited.groupdict())
            continue
        meant = CLAUSE.fullmatch(clause)
        if not meant:
            yield f"{clause!r} is no clause; `<claims> <verdict> on <setups>` expected"
            continue
        items = meant["items"].split(", ") if meant["items"] else items
        for item in items:
            setups = meant["setups"].split(", ") if meant["setups"] else [*verdicts(paper, item, table)]
            told.setdefault(item, {}).update(dict.fromkeys(setups, WORDS[meant["verdict"]]))
    for item, own in told.items():
        found = verdicts(paper, item, table)
        if own != found or not found:
            yield f"{paper} {item}: {found or 'has no row'}, and the sentence rests on {own}"


def _of_runs(paper: str, exhibits: str, setups: str | None) -> Iterator[str]:
    for name in exhibits.split(", "):
        if name not in families.read(ROOT / "workflow/papers" / paper, paper)["exhibits"]:
            yield f"{paper} has no exhibit {name}"
        file = published.cells(ROOT / "reference", paper, name)
        there = {*cells.load(file)["setup"]} if file.exists() else set()
        if there := there & {*setups.split(", ")} if setups else there:
            yield f"{paper} {name} has run on {', '.join(sorted(there))}"


def _of_cells(paper: str, line: str) -> Iterator[str]:
    check = parsed(line, "rests on")
    table = cells.load(published.cells(ROOT / "reference", paper, check["exhibit"]))
    found = scales.largest_of(check, {check["exhibit"]: table}, [*params()["scales"]])
    if not found:
        yield f"{line}: there are no such cells"
    for one in found:
        if of_claim(check, one.compared) != HOLDS:
            yield f"{line}: in {one.facts['setup']} it is {one.compared.shown}"


def sections(document: str) -> list[str]:
    """Those that show findings of the reference, without the tables."""
    text = (ROOT / document).read_text(encoding="utf-8")
    parts = [
        part for part in re.split(r"^## ", text, flags=re.M) if "(findings of " in part or "in one picture" in part
    ]
    return [re.sub(r"\(findings of .*?\(end of findings\)", "", part, flags=re.S) for part in parts]


@pytest.mark.parametrize("document", [*DOCUMENTS, "docs/audit.md"])
def test_what_a_sentence_rests_on_says_so(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert text.count("<!--") == len(COMMENT.findall(text)), "a comment that is no `<!-- rests on <paper>: ... -->`"
    assert [one for found in COMMENT.finditer(text) for one in wrong(*found.groups(), rows())] == []


@pytest.mark.parametrize("document", DOCUMENTS[1:])
def test_every_statement_among_the_findings_names_what_it_rests_on(document: str) -> None:
    statements = [
        one for part in sections(document) for one in re.findall(r"^- (?:.|\n(?! *\n|- ))*", part, flags=re.M)
    ]
    assert statements
    assert [one for one in statements if not any(name in one for name in EVIDENCE)] == []


def test_the_finding_of_the_readme_names_what_it_rests_on() -> None:
    (finding,) = sections(DOCUMENTS[0])
    assert COMMENT.search(finding)


def test_the_sentence_of_the_first_page_is_the_one_of_the_readme_that_rests_on_rows() -> None:
    (finding,) = sections(DOCUMENTS[0])
    paper, name = front.PICTURE
    said = documents.finding(str(ROOT / DOCUMENTS[0]))
    assert f"(docs/{name}.png)" in finding
    assert f"{said}\n<!-- rests on {paper}: " in finding
    assert re.fullmatch(r"[^.]+\.", said)


def test_a_document_without_such_a_sentence_has_no_finding(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("It is so.\n")
    assert documents.finding(str(tmp_path / "a.md")) == ""


TABLE = pd.DataFrame(
    [("arena", "a", "criteo", "holds"), ("arena", "a", "avazu", "holds"), ("arena", "b", "criteo", "undecided"),
     ("arena", "b", "avazu", "not refuted")],
    columns=["paper", "item", "setup", "verdict"],
)  # fmt: skip


@pytest.mark.parametrize(
    "said", ["a holds", "a holds on criteo, avazu", "b undecided on criteo; not refuted on\n  avazu; a hold",
              "bounds not run on criteo; a holds"]
)  # fmt: skip
def test_a_comment_that_says_what_the_rows_say(said: str) -> None:
    assert [*wrong("arena", said, TABLE)] == []


@pytest.mark.parametrize(
    "said",
    ["a fails", "a, b hold", "b undecided", "a holds on criteo", "a holds on criteo, avazu, digits", "c holds",
     "a is so", "bounds not run", "bounds not run on avazu_coins", "band not run",
     "leak_auc_mean of any_attack under dp[epsilon=1.0] in adaptive <= 0.4"],
)  # fmt: skip
def test_a_comment_that_says_something_else_is_found(said: str) -> None:
    """A verdict that is another one, a dataset that was added or does not agree, a claim that is gone."""
    assert len([*wrong("arena", said, TABLE)]) >= 1


def test_a_comment_may_rest_on_cells() -> None:
    line = "leak_auc_mean of any_attack under dp[epsilon=1.0] in adaptive on avazu_passive, digits_passive <= 0.6"
    assert [*wrong("arena", line, TABLE)] == []
