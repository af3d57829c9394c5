"""split_server: split learning of clients with data and an encoder, and an untrusted server with labels and classifier.

For each batch the clients send noisy features; the server trains its classifier on them and returns the gradient at
the cut. The server, or an eavesdropper, wants a sensitive attribute of the clients' rows. It has auxiliary rows whose
attribute it knows; at the training stage it intercepts features after every epoch, and it may poison the training
with rows of its own (`poison`); at the inference stage it may query the trained encoder. The clients protect the
attribute, by the features that they release, by a penalty on their loss, and by how they update the encoder.

The transcript is what that adversary could see: features of training rows and of its own after every epoch, features
of test rows and of auxiliary rows from the trained encoder, a snapshot of the encoder after every epoch. As the paper
defines its attacks these are f(x), and only what trains the classifier has noise; with `noisy_views: training` what is
seen in training has noise, too, with `all` whatever leaves the clients. It is drawn anew each time. A defense with
noise of its own (`deviation`) has it on whatever leaves the clients, in place of the setup's. Where features have noise
after the training, the clients release each row `queries` times (`records`), and the adversary keeps the mean.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 3.1 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn.functional import cross_entropy

from cutlayer.core import descent
from cutlayer.core.devices import seeded
from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.core.seeds import seed_of
from cutlayer.core.transcript import Arrays
from cutlayer.games.attributes.leak import guess_spec, leak
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.protocol import Case, Outcome, Protocol, Task
from cutlayer.games.split_server.defense import ClientsContext, Context, Defense
from cutlayer.plan.sweeps import AUDITOR

from . import leak as leaks
from . import pairs
from .data import ServerData, prepared
from .records import ServerRecords


class SplitServer(Protocol):
    """Split learning with an untrusted server, or an eavesdropper, that infers an attribute."""

    shows: ClassVar[set[str]] = {
        "known", "known_attribute", "attacked", "values", "architecture", "encoder",
        "intercepted", "poison", "poison_attribute", "inputs", "noise", "defense", "known_mean", "attacked_mean",
    }  # fmt: skip
    targets: ClassVar[set[str]] = {"attribute", "training_attribute"}
    keys: ClassVar[set[str]] = {
        "model", "rows", "partition", "excluded", "batch", "epochs", "rate", "sigma", "noisy_views", "poison",
        "records", "pairs",
    }  # fmt: skip

    def run(self, task: Task) -> Outcome:
        """Train one pair of models under each setting of the defense, all from the same initialization and batches."""
        data = prepared(task)
        outcome = Outcome()
        for setting, defense in steps(list(task.defenses.items()), f"run {task.name}"):
            records = _train(task, setting, defense, data, outcome.utility)
            outcome.transcripts[setting] = records.seen
            outcome.shared, outcome.truth = records.shared, records.truth
        return outcome

    def cases(self, transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], Any]]:
        """The attacked view: the inference stage, or the training stage, as one case."""
        yield leaks.case(transcript, target)

    def guess_spec(self, seen: Arrays, target: str) -> GuessSpec:
        """The expected guess: probabilities of the attribute's values."""
        return guess_spec(seen, target)

    def leak(self, guess: np.ndarray, truth: Arrays, case: Case, rows: Any, given: ArrayLike = ()) -> dict[str, float]:
        """Leakage metrics of a guess of the attribute; at the training stage after the last epoch and the best one.

        Where rows are of pairs, these alone count at the training stage.
        """
        if rows == "training_attribute" and "coins" in truth:
            return pairs.leak(guess, truth["coins"])
        return leak(guess, truth, rows)


@dataclass(frozen=True)
class Parties:
    """The clients' and the server's models and optimizers, ready to train."""

    encoder: torch.nn.Module
    classifier: torch.nn.Module
    client: torch.optim.Optimizer
    server: torch.optim.Optimizer
    defense: Defense
    clients: ClientsContext
    sigma: float
    state: Any = None  # the defense's


def _train(
    task: Task, setting: str, defense: Defense, data: ServerData, utility: list[dict[str, Any]]
) -> ServerRecords:
    """One training under one defense; its test metrics and training curves are appended to `utility`."""
    parties = _meet(task, setting, defense, data)
    records = ServerRecords(task, setting, data, defense, defense.deviation(parties.clients))
    bound = defense.auc_bound(parties.clients)
    utility += [] if bound is None else [{"setting": setting, "metric": "promise", "value": bound}]
    losses: list[float] = []
    for epoch in steps(range(task.settings["epochs"]), f"epochs of {task.name}"):
        losses += [_step(parties, data, batch) for batch in data.batches(task, epoch)]
        if not all(bool(p.isfinite().all()) for p in parties.encoder.parameters()):
            raise InputError(f"run.{task.name}", f"{setting or 'training'} diverged", "lower the rate or the weight")
        records.intercept(parties.encoder, epoch)
    scores = records.finish(parties.encoder, parties.classifier)
    rows = [*leaks.utility(scores, data.all_labels[data.test]), *leaks.course(losses, defense.report(parties.state))]
    utility += [{"setting": setting} | row for row in rows]
    if len(records.ratio):
        audited = pairs.leak(np.stack([-records.ratio, records.ratio], axis=1), data.pairs.coins)
        utility += [{"setting": setting, "attack": AUDITOR, "metric": m, "value": v} for m, v in audited.items()]
    return records


def _meet(task: Task, setting: str, defense: Defense, data: ServerData) -> Parties:
    """Both sides before anything is released; a defense may have pre-trained the encoder by then."""
    encoder, classifier = _models(task, data)
    parameters, rate = list(encoder.parameters()), task.settings["rate"]
    clients = _clients(task, setting, data, encoder, defense)
    how, pace = defense.descent(rate)
    client = torch.optim.Adam(parameters, pace, fused=True) if how == "adam" else torch.optim.SGD(parameters, pace)
    server = torch.optim.Adam(classifier.parameters(), rate, fused=True)
    state = defense.begin(clients)
    sigma = defense.deviation(clients) or clients.sigma
    return Parties(encoder, classifier, client, server, defense, clients, sigma, state)


def _step(parties: Parties, data: ServerData, rows: torch.Tensor) -> float:
    """One training step: a forward and a backward pass across the cut; returns the utility loss."""
    defense, clients = parties.defense, parties.clients
    features = clients.features(rows)  # the clients
    sent = (features.detach() + parties.sigma * clients.randn(*features.shape)).requires_grad_()  # crosses the cut

    descent.forget(parties.server)  # the server
    loss = cross_entropy(parties.classifier(sent, {}), data.labels[rows])
    loss.backward()
    descent.step(parties.server)

    context = Context(clients, rows, float(loss.detach()), parties.state)  # the clients, with what crossed back
    descent.forget(parties.client)
    before = [p.detach().clone() for p in clients.parameters] if defense.watches else []
    if defense.update((features * sent.grad).sum(), features, context):  # type: ignore[operator]
        descent.step(parties.client)
    if defense.watches:
        defense.moved(before, context)
    return context.loss


def _models(task: Task, data: ServerData) -> tuple[torch.nn.Module, torch.nn.Module]:
    """Encoder and classifier; all defenses start from the same ones for a given setup and seed."""
    with seeded(seed_of(task.origin, task.seed, "bottom")):
        encoder = data.model.bottom(data.inputs)
    with seeded(seed_of(task.origin, task.seed, "top")):
        classifier = data.model.top(data.inputs, data.classes)
    return encoder.to(task.device), classifier.to(task.device)


def _clients(task: Task, setting: str, data: ServerData, encoder: torch.nn.Module, defense: Defense) -> ClientsContext:
    """The clients' context before the first step."""
    draw = torch.Generator().manual_seed(seed_of(task.name, setting, "defense"))
    n, size = len(data.train), min(task.settings["batch"], len(data.train))

    def decoder(outputs: int) -> torch.nn.Module:
        with seeded(int(torch.randint(2**31, (), generator=draw))):
            return data.model.top(data.inputs, outputs).to(task.device)

    return ClientsContext(
        attribute=data.attribute.clone(),  # a defense that changes its copy does not change the next training's
        values=data.values,
        sigma=float(task.settings["sigma"]),
        epochs=task.settings["epochs"],
        steps=task.settings["epochs"] * (n // size),
        features=lambda rows: defense.release(encoder(data.encode(rows))[1]),
        parameters=list(encoder.parameters()),
        decoder=decoder,
        batch=lambda: torch.randint(n, (size,), generator=draw).to(task.device),
        queries=task.settings["records"].get("queries", 1),
        generator=draw,
        device=task.device,
    )


def stepper(task: Task) -> Callable[[], None]:
    """One training step of a task's first setting, on the same batch at each call; nothing is recorded."""
    data = prepared(task)
    ((setting, defense), *_) = task.defenses.items()
    parties, rows = _meet(task, setting, defense, data), data.batches(task, 0)[0]
    return lambda: _nothing(_step(parties, data, rows))


def _nothing(_: object) -> None:
    """A step returns its loss, a stepper does not."""
