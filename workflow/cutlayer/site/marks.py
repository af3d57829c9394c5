"""Icons and meanings of verdicts on the pages; names as anchors and in words."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from cutlayer.ledger import verdicts

ICONS = {
    verdicts.HOLDS: "✓",
    verdicts.DIFFERS: "≠",
    verdicts.FAILS: "✗",
    verdicts.REFUTED: "≰",
    verdicts.NOT_REFUTED: "≤",
    verdicts.ATTAINED: "≈",
    verdicts.UNDECIDED: "?",
    verdicts.TIE: "=",
    verdicts.NO_SIGNAL: "∅",
    verdicts.VOID: "∞",
    verdicts.NO_WORTH: "0",
    verdicts.TOO_SMALL: "↓",
    verdicts.NO_COMMON_RANGE: "∦",
    verdicts.STAND_IN: "○",
    verdicts.DECIDES: "§",
    verdicts.NOT_AT_THIS_SCALE: "…",
    verdicts.NO_RESULT: "–",
    verdicts.NOT_COMPARABLE: "⊘",
}
MEANINGS = {
    verdicts.HOLDS: "the whole 95% interval agrees",
    verdicts.DIFFERS: "none of the interval is within the tolerance of the printed number",
    verdicts.FAILS: "the whole interval contradicts",
    verdicts.REFUTED: "it is beyond a proven bound, also when all bounds are tested at once",
    verdicts.NOT_REFUTED: "it is not surely beyond the bound; measuring says no more of what is proven",
    verdicts.ATTAINED: "its whole interval is within 2 points of the bound",
    verdicts.UNDECIDED: "the interval is on both sides",
    verdicts.TIE: "both sides are exactly equal where one is said to be more",
    verdicts.NO_SIGNAL: "the model, or the attack without a defense, is not surely better than chance",
    verdicts.VOID: "a bound that the leak is not surely above without any defense either",
    verdicts.NO_WORTH: "without a defense the passive party adds too little utility for a share of it to be known",
    verdicts.TOO_SMALL: "without a defense the model's utility is more than 5 points below what the paper prints",
    verdicts.NO_COMMON_RANGE: "two sweeps nowhere leak alike, or are as useful, so that they are not compared",
    verdicts.STAND_IN: "the data are generated, so that nothing is judged",
    verdicts.DECIDES: "a printed number by which the text was read; not judged",
    verdicts.NOT_AT_THIS_SCALE: "a printed number that a run of this size does not judge",
    verdicts.NO_RESULT: "a method failed or does not apply, or only part is there",
    verdicts.NOT_COMPARABLE: "it cannot be had at all",
}


def slug(text: str) -> str:
    """Anchor of a text, as GitHub makes one of a heading; also a CSS class."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def broken(name: str) -> Markup:
    """HTML of a name that may be broken at its underscores, and nowhere else."""
    return Markup(str(escape(name)).replace("_", "_<wbr>"))  # escaped before


def spoken(name: str) -> str:
    """Name of an exhibit, or a place, in words: `figure4_leak` is figure 4 leak."""
    return re.sub(r"([a-z])(\d)", r"\1 \2", name.replace("_", " "))
