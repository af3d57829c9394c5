"""split: two-party split learning, where one party holds features and the bottom model, the other labels and top model.

For each batch the feature party sends embeddings, the label party returns the gradient of every example's loss at the
cut, and the feature party back-propagates what it received. Its adversary wants the labels; the label party protects
them by its soft labels, by the gradients that it releases, and by how it turns outputs into class probabilities.

The transcript is what the feature party could see: the gradients, its embeddings and its first layer's gradients in
sampled batches, what enters its last layer and that layer's gradient (`last_layer`), the gradients of its tracked
records in every epoch (`watched`), its bottom model, its features. It may know a few positives of a batch (`hints`),
the labels of a few of its examples (`known`), and the classes' shares (`prior`). What a defense drew for the labels
(`drawn`) it cannot see; that is in the truth, scored as the attack `as_drawn`. How many classes the top model predicts
is a parameter of the defense, which is not secret. Sampled batches are evenly spaced over the training, besides those
requested by number (`records.at`).

Li et al., "Label Leakage and Protection in Two-party Split Learning", 2; Jiang et al., "Training on Fake Labels".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn.functional import pad

from cutlayer.core import descent
from cutlayer.core.devices import seeded
from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.core.seeds import seed_of
from cutlayer.core.transcript import Arrays
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.protocol import Case, Outcome, Protocol, Rows, Task
from cutlayer.games.base.snapshot import architecture
from cutlayer.metrics.utility import utility as of_scores
from cutlayer.plan.sweeps import AUDITOR

from . import beyond
from . import leak as leaks
from .coins import log_ratio
from .data import Data, prepared
from .defense import Context, Defense, Training
from .feature_party import FeatureParty, Sender
from .records import Records


class Split(Protocol):
    """Two-party split learning with a curious feature party."""

    shows: ClassVar[set[str]] = {
        "gradients", "embeddings", "first_gradients", "last_inputs", "last_gradient", "hints", "classes",
        "bottom", "architecture", "features", "known", "known_labels", "attacked", "outputs",
        "watched_gradients", "watched_steps", "watched_features", "batch_means", "batch_squares", "prior",
    }  # fmt: skip
    targets: ClassVar[set[str]] = {"labels", "watched", "population", "dimension"}
    keys: ClassVar[set[str]] = {
        "model", "rows", "test_share", "test_rows", "batch", "epochs", "rate", "stream", "records", "known",
        "timed_steps", "feature_party", "coins",
    }  # fmt: skip

    def run(self, task: Task) -> Outcome:
        """Train one pair of models under each setting of the defense, all from the same initialization and batches."""
        data = prepared(task)
        outcome = Outcome(shared=data.shown, truth=dict(data.truth))
        for setting, defense in steps(list(task.defenses.items()), f"run {task.name}"):
            records = _train(task, setting, defense, data, outcome.utility)
            outcome.transcripts[setting] = records.seen
            outcome.truth |= records.truth | {f"{setting}|{name}": value for name, value in records.hidden.items()}
        return outcome

    def audited(self, task: Task) -> Rows:
        """The tracked records, with the labels that are trained on, and all other training rows."""
        data = prepared(task)
        labels, others = data.labels.cpu().numpy(), np.setdiff1d(np.arange(len(data.train)), data.tracked)
        features = [data.table.features[data.train[places]] for places in (data.tracked, others)]
        return Rows(features[0], labels[data.tracked], features[1], labels[others], data.inputs.categorical)

    def cases(self, transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], Any]]:
        """Each recorded batch; or, for attacks on tracked records or with the bottom model, the training as a whole."""
        yield from leaks.cases(transcript, target)

    def guess_spec(self, seen: Arrays, target: str) -> GuessSpec:
        """The expected guess: scores of rows, class probabilities, or a number of classes."""
        return leaks.guess_spec(seen, target)

    def leak(self, guess: np.ndarray, truth: Arrays, case: Case, rows: Any, given: ArrayLike = ()) -> dict[str, float]:
        """Leakage metrics of a guess of labels, or of the number of classes trained on."""
        return leaks.leak(guess, truth, rows, given)

    def summarize(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Mean, median and 95% quantile of the leakage over the recorded batches, with the chance floor."""
        return leaks.summarize(rows)


@dataclass(frozen=True)
class Parties:
    """Both parties' models and the label party's defense, ready to train."""

    bottom: torch.nn.Module
    top: torch.nn.Module
    optimizer: torch.optim.Adam
    defense: Defense
    training: Training
    state: Any  # the defense's
    send: Sender


def _meet(task: Task, setting: str, defense: Defense, data: Data) -> Parties:
    """Models, optimizer and defense of one training before its first step."""
    training = Training(
        labels=data.labels.clone(),  # what a defense does to its own changes neither truth nor the next training
        classes=data.classes,
        outputs=defense.outputs(data.classes),
        num_releases=data.num_releases,
        generator=_generator(task.name, setting, "defense"),
        device=task.device,
    )
    state = defense.begin(training)
    party = FeatureParty(**task.settings.get("feature_party", {}))
    bottom, top = _models(task, data, defense, training, party)
    optimizer = party.adam([*bottom.parameters()], [*top.parameters()], task.settings["rate"])
    send = Sender(party, len(data.train), _generator(task.origin, task.seed, "feature_party"), task.device)
    return Parties(bottom, top, optimizer, defense, training, state, send)


def _train(task: Task, setting: str, defense: Defense, data: Data, utility: list[dict[str, Any]]) -> Records:
    """One training under one defense; its test metrics are appended to `utility`."""
    parties = _meet(task, setting, defense, data)
    records = Records(task.settings["records"], data)
    records.follow(parties.bottom)
    bound = defense.auc_bound(parties.training)
    utility += [] if bound is None else [{"setting": setting, "metric": "promise", "value": bound}]
    for phase in steps(data.phases, f"epochs of {task.name}"):
        for rows, own in zip(phase.batches, phase.copied(), strict=True):
            _step(parties, data.encode(rows), rows, own, records)
        if not all(bool(p.isfinite().all()) for p in parties.bottom.parameters()):
            raise InputError(f"run.{task.name}", f"{setting or 'training'} diverged", "lower the rate or the noise")
        if phase.test is not None:
            scores = defense.to_class_probabilities(_probabilities(parties, data, phase.test), parties.state)
            place = {"setting": setting} | phase.place
            utility += [place | row for row in of_scores(scores, data.table.labels[phase.test])]
    records.finish(parties.bottom, architecture(task.settings["model"], data.inputs), parties.training.outputs)
    drawn = defense.drawn(parties.state, parties.training) if len(data.tracked) else None
    if drawn is not None:
        records.hidden["drawn"] = drawn.cpu().numpy()[data.tracked]
        scored = leaks.as_drawn(records.hidden["drawn"], data.truth)
        utility += [{"setting": setting} | row for row in scored]
    if "auditor" in records.hidden:
        scored = leaks.as_drawn(records.hidden["auditor"], data.truth, AUDITOR)
        utility += [{"setting": setting} | row for row in scored]
    about_label = bound if defense.about == "label" else None
    utility += [{"setting": setting} | row for row in beyond.of_features(data.truth, about_label, drawn is not None)]
    return records


def _step(
    parties: Parties, x: dict[str, torch.Tensor], rows: torch.Tensor, own: torch.Tensor, records: Records | None = None
) -> None:
    """One training step: a forward and a backward pass across the cut; `own` is the defense's copy of the rows."""
    context = Context(parties.training, own, parties.state, parties.top)
    descent.forget(parties.optimizer)

    first, embedding = parties.bottom(x)  # the feature party
    if records and records.now and records.first_layer:
        first.retain_grad()

    sent: Any = parties.send(embedding.detach(), rows).requires_grad_()  # crosses the cut
    logits = parties.top(sent, x)  # the label party
    loss = losses(logits, parties.defense.soft_labels(context))
    penalty = parties.defense.penalty(sent, logits, context)
    (loss.mean() if penalty is None else loss.mean() + penalty).backward()
    received = parties.defense.backward(len(loss) * sent.grad, context)  # crosses back: one gradient an example

    if records and records.audited:
        records.audit(rows, log_ratio(parties.defense, partial(_as_if, parties, x), sent, received, context))

    embedding.backward(received[:, : embedding.shape[1]] / len(loss))  # the feature party
    descent.step(parties.optimizer)
    if records:
        records.keep(rows, received, sent.detach(), first, loss.detach())


def _as_if(parties: Parties, x: dict[str, torch.Tensor], sent: torch.Tensor, label: int) -> torch.Tensor:
    """The loss (B,) of each example, had it this label."""
    target = torch.zeros(len(sent), parties.training.outputs, device=sent.device)
    target[:, label] = 1
    return losses(parties.top(sent, x), target)


def losses(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Cross-entropy (B,) of each example: logits (B, K), or (B, 1) for the second of two classes; `target` (B, K)."""
    return -(target * _complete(logits).log_softmax(dim=1)).sum(dim=1)


def _complete(logits: torch.Tensor) -> torch.Tensor:
    """Logits (B, K), with a 0 for the first of two classes if there is a single one."""
    return pad(logits, (1, 0)) if logits.shape[1] == 1 else logits


def _models(
    task: Task, data: Data, defense: Defense, training: Training, party: FeatureParty
) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The bottom and the top model; all defenses start from the same bottom model for a given setup and seed."""
    with seeded(seed_of(task.origin, task.seed, "bottom")):
        bottom = data.model.bottom(data.inputs).to(task.device)
    with seeded(seed_of(task.origin, task.seed, "top")):
        drawn = party.extended(data.model).top(data.inputs, 1 if training.outputs == 2 else training.outputs)
        top = defense.top(drawn, _width(bottom, data) + party.extend, training)
    return bottom, top.to(task.device)


@torch.no_grad()
def _width(bottom: torch.nn.Module, data: Data) -> int:
    """The number of columns at the cut."""
    width = int(bottom.eval()(data.encode_table(data.train[:1]))[1].shape[1])
    bottom.train()
    return width


def _probabilities(parties: Parties, data: Data, rows: np.ndarray) -> np.ndarray:
    """Predicted probabilities (N, outputs) float64."""
    parts = []
    parties.top.eval()
    with torch.no_grad():
        for some in np.array_split(rows, max(1, len(rows) // 4096)):
            x = data.encode_table(some)
            parts.append(
                _complete(parties.top(parties.send(parties.bottom(x)[1]), x)).double().softmax(dim=1).cpu().numpy()
            )
    parties.top.train()
    return np.concatenate(parts)


def stepper(task: Task) -> Callable[[], None]:
    """One training step of a task's first setting, on the same batch at each call; nothing is recorded."""
    data = prepared(task)
    ((setting, defense), *_) = task.defenses.items()
    parties, rows = _meet(task, setting, defense, data), data.phases[0].batches[0]
    return lambda: _step(parties, data.encode(rows), rows, rows)


def _generator(*name: object) -> torch.Generator:
    return torch.Generator().manual_seed(seed_of(*name))
