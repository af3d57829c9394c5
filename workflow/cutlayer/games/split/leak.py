"""Label leakage metrics of attacks in split learning: per batch, per training, and summarized over batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import Arrays
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.protocol import Case
from cutlayer.metrics import audit, oracles
from cutlayer.metrics.leakage import auc_error, chance_floor, tied_auc, true_positives
from cutlayer.metrics.utility import utility_of
from cutlayer.plan.sweeps import AS_DRAWN

from . import beyond

OF_A_BATCH = ("gradients", "embeddings", "first_gradients", "last_inputs", "last_gradient")
OF_THE_TRAINING = ("architecture", "features", "known", "known_labels", "attacked", "classes")
OF_THE_TRACKED = (
    "watched_gradients", "watched_steps", "watched_features", "batch_means", "batch_squares", "known_labels", "classes",
    "outputs", "architecture", "prior",
)  # fmt: skip
Attacked = tuple[str, int]  # the target, and which of the recorded batches


def cases(transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], Attacked]]:
    """The attacked views of one setting of a defense: each recorded batch, or the training as a whole.

    A case has the step and, where there are days, the day.
    """
    if target == "population":
        seen = {name: transcript[name] for name in OF_THE_TRAINING if name in transcript}
        yield {"step": 0, "day": 0}, seen | {"bottom": transcript["snapshots"][-1]}, (target, 0)
        return
    if target == "watched":
        seen = {name: transcript[name] for name in OF_THE_TRACKED if name in transcript}
        if {"watched_gradients", "known_labels"} <= seen.keys():  # fewer rows may be tracked than have known labels
            seen["known_labels"] = seen["known_labels"][: seen["watched_gradients"].shape[1]]
        yield {"step": 0, "day": 0}, seen | {"bottom": transcript["snapshots"][-1]}, (target, 0)
        return
    for place, (step, day) in enumerate(zip(transcript["steps"], transcript["days"], strict=True)):
        seen = {name: transcript[name][place] for name in OF_A_BATCH if name in transcript}
        hints = transcript["hints"][place]
        known = {"hints": hints[hints >= 0]} | {name: transcript[name] for name in ("classes", "outputs")}
        yield {"step": int(step), "day": int(day)}, seen | known, (target, place)


def guess_spec(seen: Arrays, target: str) -> GuessSpec:
    """The shape and type of the guess expected from an attack on this target, see `attack.py`."""
    classes = int(seen["classes"])
    if target == "dimension":
        return GuessSpec((), whole=True)
    if target == "population":
        return GuessSpec((len(seen["attacked"]), classes), by_epoch=True)
    if target == "watched":
        count, known = seen["watched_gradients"].shape[1], len(seen.get("known_labels", ()))
        shape = (count,) if classes == 2 else (count, classes)
        return GuessSpec(shape, abstains=True, known="known_labels", given=np.arange(known))
    if classes != 2:
        wrong = f"a score tells 2 classes apart, here there are {classes}"
        raise InputError("protocol.split", wrong, "expected an attack that says so: classes = {2}")
    return GuessSpec((len(seen["gradients"]),), abstains=True, known="hints", given=seen["hints"])


def leak(guess: np.ndarray, truth: Arrays, rows: Attacked, given: ArrayLike = ()) -> dict[str, float]:
    """Leakage metrics of one guess of an attack, by its target.

    labels: a score for each example of a batch, NaN for those not guessed; watched: a score for each tracked record, or
    class probabilities (W, classes), NaN in rows not guessed; population: class probabilities (attacked, classes), or
    those after each of the attack's epochs; dimension: the number of classes trained on.

    A row that is not guessed is left out if its label was `given`. Any other counts as chance: it ties with all others.
    Where rows have coins, these alone count; none was given.
    """
    target, place = rows
    if target == "labels" and "batch_coins" in truth:
        coins = truth["batch_coins"][place]
        return _of_coins(guess[coins >= 0], coins[coins >= 0], guesses=False)
    if target == "watched" and "coins" in truth:
        return _of_coins(guess[truth["coin_places"]], truth["coins"])
    if target == "labels":
        return _of_a_batch(guess, truth["labels"][place], given)
    if target == "watched":
        labels = truth["watched_labels"]
        found = _of_the_tracked(guess, labels, given) | _with_oracles(guess, labels, given)
        return found | _beyond_features(guess, truth, given)
    if target == "population":
        return _of_a_population(guess, truth["attacked_labels"])
    return {"guessed": float(guess), "hit": float(int(guess) == int(truth["outputs"]))}


def _of_a_batch(score: np.ndarray, labels: np.ndarray, given: ArrayLike) -> dict[str, float]:
    score, labels = _wanted(score, labels, given)
    auc = tied_auc(score, labels)
    if auc is None:
        return {"one_class": 1.0}
    rows, positives = len(labels), int(labels.sum())
    facts = {"rows": float(rows), "majority": max(positives, rows - positives) / rows}
    facts["tpr_at_1pct"] = true_positives(np.where(np.isnan(score), -np.inf, score), labels) or 0.0
    facts |= _error(score, labels)
    return {"leak_auc": auc, "floor": chance_floor(positives, rows - positives), "one_class": 0.0} | facts


def _of_coins(guess: np.ndarray, coins: np.ndarray, guesses: bool = True) -> dict[str, float]:
    """Metrics of rows that have coins for labels, and what an audit needs of a score."""
    found = _of_the_tracked(guess, coins, ())
    if "leak_auc" not in found:
        return found
    return found | audit.slack(len(coins)) | (audit.guessed(guess, coins) if guesses else {})


def _error(score: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """The standard error of an AUC, if it has enough rows of either class."""
    error = auc_error(score, labels)
    return {} if error is None else {"leak_auc_error": error}


def _wanted(guess: np.ndarray, labels: np.ndarray, given: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Guesses and labels without the rows that are not guessed because the adversary knows their labels."""
    left_out = _not_guessed(guess, given)
    return guess[~left_out], labels[~left_out]


def _not_guessed(guess: np.ndarray, given: ArrayLike) -> np.ndarray:
    """The rows that are not guessed because the adversary knows their labels."""
    missing = np.isnan(guess).any(axis=tuple(range(1, guess.ndim)))
    return np.asarray(missing & np.isin(np.arange(len(guess)), given))


def _with_oracles(guess: np.ndarray, labels: np.ndarray, given: ArrayLike) -> dict[str, float]:
    """Utilities that oracles help, of an attack that has known labels."""
    used = _not_guessed(guess, given)
    return oracles.of_a_guess(guess, labels, used) if used.any() and not used.all() else {}


def _of_the_tracked(guess: np.ndarray, labels: np.ndarray, given: ArrayLike) -> dict[str, float]:
    """Metrics of tracked records: as of a batch for two classes, as of a population for more.

    A row that is not guessed counts as a random guess among all classes.
    """
    if guess.ndim == 1:
        return _of_a_batch(guess, labels, given)
    guess, labels = _wanted(guess, labels, given)
    guessed = ~np.isnan(guess).any(axis=1)
    whole = _of_a_population(np.where(guessed[:, None], guess, 0), labels)
    if guessed.all():
        return whole
    right = (guess[guessed].argmax(axis=1) == labels[guessed]).sum() + (~guessed).sum() / guess.shape[1]
    share = float(right / len(labels))
    return whole | dict.fromkeys(("attack_utility", "attack_utility_oracle", "attack_accuracy"), share)


def _beyond_features(guess: np.ndarray, truth: Arrays, given: ArrayLike) -> dict[str, float]:
    """The adjusted AUC of tracked records, where it is known what features predict of them and that is not all."""
    if guess.ndim > 1 or "row_prior" not in truth or truth["row_prior_suffices"]:
        return {}
    (score, labels), (_, prior) = (_wanted(guess, truth[name], given) for name in ("watched_labels", "row_prior"))
    return beyond.of_score(score, labels, prior)


def as_drawn(drawn: np.ndarray, truth: Arrays, attack: str = AS_DRAWN) -> Iterator[dict[str, Any]]:
    """Leakage of a defense's own random draws for the tracked records, (W,) or (W, classes), scored as an attack."""
    found = leak(drawn, truth, ("watched", 0))
    summed = {row["metric"]: row["value"] for row in summarize([{"metric": m, "value": v} for m, v in found.items()])}
    yield from ({"attack": attack, "metric": metric, "value": value} for metric, value in (found | summed).items())


def _of_a_population(guess: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Metrics after an attack's last epoch, and after its best one, which only an oracle with the labels can pick."""
    epochs = guess if guess.ndim == 3 else guess[None]
    utilities = [utility_of(scores, labels) for scores in epochs]
    common = float(np.bincount(labels).max() / len(labels))
    error = _error(epochs[-1][:, 1], labels) if epochs.shape[2] == 2 else {}
    return error | {
        "attack_utility": utilities[-1],
        "attack_utility_oracle": max(utilities),
        "attack_accuracy": float(np.mean(epochs[-1].argmax(axis=1) == labels)),
        "majority": common,
        "chance": 0.5 if epochs.shape[2] == 2 else common,
        "rows": float(len(labels)),
    }


def summarize(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and median leak AUC, mean and 95% quantile of |AUC - ½|, and the chance floor, for each kind of guess.

    Single-class batches are counted and left out of all else. The mean of a single batch has its standard error;
    several may share rows, so that their errors are not independent.
    The floor is that of the quantile; the mean of a useless score's |AUC - ½| is about sqrt(2 / pi) / 1.96 of it.
    """
    found = []
    kinds = {row["metric"].removeprefix("one_class") for row in rows if row["metric"].startswith("one_class")}
    for kind in sorted(kinds):
        counted = sum(row["value"] for row in rows if row["metric"] == f"one_class{kind}")
        found.append((f"one_class_batches{kind}", counted))
        auc = np.array([row["value"] for row in rows if row["metric"] == f"leak_auc{kind}"])
        if not len(auc):
            continue
        gap = np.abs(auc - 0.5)
        floors = [row["value"] for row in rows if row["metric"] == f"floor{kind}"]
        found += [
            (f"leak_auc_mean{kind}", auc.mean()),
            (f"leak_auc_median{kind}", np.median(auc)),
            (f"leak_gap_mean{kind}", gap.mean()),
            (f"leak_gap_q95{kind}", np.quantile(gap, 0.95)),
            (f"attack_utility{kind}", auc.mean()),
            (f"attack_utility_symmetrized{kind}", (0.5 + gap).mean()),
            (f"chance_floor{kind}", np.mean(floors)),
            (f"rows{kind}", sum(row["value"] for row in rows if row["metric"] == f"rows{kind}")),
            (f"majority{kind}", np.mean([row["value"] for row in rows if row["metric"] == f"majority{kind}"])),
            (f"chance{kind}", 0.5),
        ]
        if len(auc) == 1:
            error = f"leak_auc_error{kind}"
            found += [(error, row["value"]) for row in rows if row["metric"] == error]
    values = {row["metric"]: row["value"] for row in rows} | dict(found)
    if "attack_utility_again" in values:  # the better of two runs, which only the truth can pick
        found.append(("attack_utility_better", max(values["attack_utility"], values["attack_utility_again"])))
    return [{"step": 0, "day": 0, "metric": metric, "value": float(value), "skipped": ""} for metric, value in found]
