"""Metrics are declared once, and no interval of the reference ends beyond what its metric can be."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from cutlayer.metrics import declared

REFERENCE = Path(__file__).parents[2] / "reference"
TABLES = sorted((REFERENCE / "exhibits").glob("*/*.csv"))
ROUNDING = 1e-9
PLAIN = {  # numbers of any size, of theorems and of data
    "advantage", "covariance_lower", "delta_y_given_u", "device_jsd", "dimension_of_negatives",
    "dimension_of_negatives_alike", "dimension_of_positives", "dimension_of_positives_alike", "epsilon",
    "half_star_empirical", "half_star_lower", "half_star_upper", "input_x", "input_y", "leakage", "lipschitz",
    "ls_empirical", "ls_lower", "ls_upper", "mean", "mean_of_means", "offset", "omega", "privacy_ascent", "radius",
    "representation_x", "representation_y", "strength", "theorem1_bound", "theorem1_bound_any", "theorem1_error",
    "theorem2_bound_corrected", "theorem2_bound_corrected_of_guess", "theorem2_bound_printed",
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
