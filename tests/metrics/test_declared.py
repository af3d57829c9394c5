"""Metrics are declared once, and no interval of the reference ends beyond what its metric can be."""

from __future__ import annotations

import ast
from pathlib import Path

import pandas as pd
import pytest

from cutlayer.metrics import declared

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference"
TABLES = sorted((REFERENCE / "exhibits").glob("*/*.csv"))
ROUNDING = 1e-9
PLAIN = {  # numbers of any size, of theorems and of data
    "advantage", "covariance_lower", "delta_y_given_u", "device_jsd", "dimension_of_negatives",
    "dimension_of_negatives_alike", "dimension_of_positives", "dimension_of_positives_alike", "epsilon",
    "half_star_empirical", "half_star_lower", "half_star_upper", "input_x", "input_y", "kept", "lipschitz",
    "ls_empirical", "ls_lower", "ls_upper", "mean", "mean_of_means", "offset", "omega", "privacy_ascent", "radius",
    "representation_x", "representation_y", "steps", "strength", "theorem1_bound", "theorem1_bound_any",
    "theorem1_error", "theorem2_bound_corrected", "theorem2_bound_corrected_of_guess", "theorem2_bound_printed",
    "theorem2_bound_printed_of_guess", "threshold", "value", "weight",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The cells of every exhibit of the reference, with their intervals."""
    used = ["metric", "mean", "low", "high"]
    return pd.concat([pd.read_csv(path, usecols=used, keep_default_na=False, na_values=[""]) for path in TABLES])


def test_every_metric_of_the_reference_is_declared_or_a_plain_number(rows: pd.DataFrame) -> None:
    shown = set(rows["metric"].dropna()) - {""}
    assert shown - declared.METRICS.keys() - PLAIN == set()


def test_no_interval_ends_below_or_above_what_its_metric_can_be(rows: pd.DataFrame) -> None:
    ends = rows.dropna(subset=["metric", "low", "high"])
    least, most = ([declared.of(name).range[end] for name in ends["metric"]] for end in (0, 1))
    beyond = ends[(ends["low"] + ROUNDING < least) | (ends["high"] - ROUNDING > most)]
    assert beyond.to_dict("records") == []
    assert (ends["low"] <= ends["mean"] + ROUNDING).all()
    assert (ends["mean"] <= ends["high"] + ROUNDING).all()


def test_no_claim_on_a_share_or_an_auc_ends_below_0_or_above_1() -> None:
    claims = pd.read_csv(REFERENCE / "claims.csv")
    values = claims[claims["threshold"].astype(str).str.startswith("value ") & claims["ours"].between(0, 1)]
    leaks = values[values["statement"].str.contains("leak|labels|accuracy|AUC")]
    assert len(leaks) > 20
    assert leaks[(leaks["low"] < 0) | (leaks["high"] > 1)].empty


@pytest.mark.parametrize("name", ["leak_auc_mean_of_gradient_norm", "chance_floor_of_residual", "attack_auc"])
def test_what_is_scored_apart_is_what_its_metric_is(name: str) -> None:
    assert declared.of(name).kind in (declared.AUC, declared.CHANCE)
    assert declared.of(name).range == (0, 1)


def test_what_a_metric_says_of_its_case_is_declared() -> None:
    assert set(declared.FACTS.values()) == {declared.ROWS, declared.COMMON, declared.CHANCE, declared.ERROR}
    errors = {metric.error for metric in declared.METRICS.values()} - {""}
    assert errors == {name for name, fact in declared.FACTS.items() if fact == declared.ERROR}
    assert all(declared.of(name).kind == declared.FACT for name in errors)


# What reads meaning out of a metric's name, where it is not scored.

ASKS = {"isin", "startswith", "endswith", "removeprefix", "removesuffix", "match", "contains", "fullmatch"}
SCORED_IN = ("cutlayer/metrics/", "cutlayer/games/")
LIBRARY = ROOT / "workflow"
CODE = [
    file
    for folder in ("cutlayer", "launch", "release", "scripts")
    for file in sorted((LIBRARY / folder).rglob("*.py"))
    if not str(file.relative_to(LIBRARY)).startswith(SCORED_IN)
]


def texts(node: ast.AST, constants: dict[str, list[str]]) -> list[str]:
    """The literal texts of an expression but for names of columns, and those of the constants that it names."""
    columns = {one.slice for one in ast.walk(node) if isinstance(one, ast.Subscript)}
    found = [one for one in ast.walk(node) if isinstance(one, ast.Constant) and one not in columns]
    own = [one.value for one in found if isinstance(one.value, str)]
    return own + [text for one in ast.walk(node) if isinstance(one, ast.Name) for text in constants.get(one.id, [])]


def constants_of(files: list[Path]) -> dict[str, list[str]]:
    """The texts of all constants of modules, by name."""
    found: dict[str, list[str]] = {}
    for file in files:
        for node in ast.parse(file.read_text()).body:
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(target, ast.Name) and target.id.isupper():
                    found.setdefault(target.id, []).extend(texts(node.value, {}))
    return found


def asked_of_names(source: str, constants: dict[str, list[str]]) -> list[str]:
    """Expressions that compare what is called a metric with a metric's name, or ask for a part of its name."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS:
            sides = [node.func.value, *node.args]
        else:
            continue
        named = [text for side in sides for text in texts(side, constants) if text]
        called = any("metric" in ast.unparse(side) for side in sides)
        part = isinstance(node, ast.Call) and node.func.attr != "isin"  # type: ignore[union-attr]
        known = [text for text in named if text in declared.METRICS or (part and of_a_name(text))]
        if called and known:
            found.append(ast.unparse(node))
    return found


def of_a_name(text: str) -> bool:
    """Whether some metric's name begins or ends so."""
    return len(text) > 2 and any(name.startswith(text) or name.endswith(text) for name in declared.METRICS)


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ("rows[rows['metric'] == 'test_log_loss']", True),
        ("rows['metric'].isin(GUESSES)", True),
        ("metric != LOSS", True),
        ("metrics['metric'].str.startswith('leak_auc_of_')", True),
        ("[name for name in metrics if name.endswith('_positive')]", False),
        ("'majority' in point.metrics", True),
        ("rows['metric'] == self.leak", False),
        ("declared.of(metric).kind == declared.LOG_LOSS", False),
        ("rows['metric'] != ''", False),
        ("kind(str(metric), run['chance']) == declared.AUC", False),
    ],
)
def test_a_comparison_with_a_metrics_name_is_found(source: str, asks: bool) -> None:
    assert bool(asked_of_names(source, {"GUESSES": ["majority"], "LOSS": ["test_log_loss"]})) == asks


def test_nothing_reads_meaning_out_of_a_metrics_name() -> None:
    constants = constants_of(CODE)
    found = {str(file.relative_to(ROOT)): asked_of_names(file.read_text(), constants) for file in CODE}
    assert {name: own for name, own in found.items() if own} == {}
