"""Each term is explained once, in the field's words, and linked from where the site uses it first."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from cutlayer.site import glossary
from cutlayer.site.marks import slug

from .conftest import ROOT

with contextlib.chdir(ROOT):
    TERMS = glossary.entries()
USED = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("workflow/papers/*/paper.yaml"), *ROOT.glob("workflow/cutlayer/**/*.py")]
NOT = ["sendings", "reads off", "gives away", "undoes", "wears off", "whoever knows", "takes it back"]  # design: Words


def test_each_term_has_one_entry_with_an_explanation() -> None:
    text = (ROOT / glossary.PAGE).read_text()
    headings = re.findall(r"^### (.*)$", text, flags=re.M)
    assert len(headings) == len({slug(name) for name in headings}) == len(TERMS) > 50
    assert {name: said for name, said in TERMS.items() if len(said) < 30 or not said.endswith(".")} == {}
    assert [word for word in NOT if word in text] == []


def test_each_term_is_used_elsewhere() -> None:
    everything = "\n".join(file.read_text(encoding="utf-8") for file in USED if file.name != "glossary.md").lower()
    everything = " ".join(everything.replace("_", " ").split())
    assert [name for name in TERMS if name.lower() not in everything] == []
    assert {name.lower() for name in TERMS} >= glossary.COMMON


def test_the_first_use_leads_to_the_entry_and_the_text_stays_as_it_is() -> None:
    text = "A <Leak AUC> and leak AUCs; the seed's pareto front, a bottom model. No paretofront."
    html = glossary.linked(text, TERMS, "docs/docs/glossary.html")
    assert re.findall(r'href="docs/docs/glossary.html#([\w-]+)">([^<]*)<', html) == [
        ("leak-auc", "Leak AUC"), ("pareto-front", "pareto front"), ("bottom-model", "bottom model"),
    ]  # fmt: skip
    assert re.sub(r"</?a[^>]*>", "", html) == text.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")
    assert glossary.linked("Leak AUC", {}, "") == "Leak AUC"
    assert glossary.linked("as `a<b` says", {}, "") == "as <code>a&lt;b</code> says"


def test_captions_of_the_site_link_terms_to_entries_that_are_there(site: Path) -> None:
    page = (site / "docs/docs/glossary.html").read_text()
    links = [
        link for file in site.glob("*.html") for link in re.findall(r'class="term" href="([^"]+)"', file.read_text())
    ]
    assert links
    for link in set(links):
        file, _, anchor = link.partition("#")
        assert (site / file).exists()
        assert f'id="{anchor}"' in page
