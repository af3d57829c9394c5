"""federated: federated representation learning, where devices train a shared extractor that a server averages.

In each round a fraction of the devices train the extractor for some epochs on their rows, each alongside networks of
its own that never leave it, and upload it; the server averages the uploads (FedAvg), plainly or weighted by the
devices' rows. With `participants: averaged` every device trains, and the server averages that fraction of them. The
server, or anyone with the extractor, wants a sensitive attribute of the rows behind some representations; it has the
representations of other rows, whose attribute it knows. The devices protect the attribute, by the networks that they
train the extractor with or against, and by what they upload.

The extractor is pre-trained for `pretraining` rounds, with the utility network alone, or for the task if so declared
by `pretrained_for`. The task is downstream: a classifier is trained on the representations once the extractor is final,
on those of all training rows, or by each device on its own.

Arroyo Arevalo, Noorbakhsh, Dong, Hong, Wang, "Task-Agnostic Privacy-Preserving Representation Learning for Federated
Learning against Attribute Inference Attacks"; McMahan et al., "Communication-Efficient Learning of Deep Networks from
Decentralized Data".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.core.seeds import seed_of
from cutlayer.core.transcript import Arrays
from cutlayer.games.attributes.leak import guess_spec, leak
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.protocol import Case, Outcome, Protocol, Task
from cutlayer.games.federated.defense import Defense, FederationContext

from .data import FederatedData, first, participants, prepared, training_devices
from .local import Grouped, Kept, Sequential
from .records import FederatedRecords

BEFORE, ROUND = "pretraining", "round"


class Start(NamedTuple):
    """The common start of all trainings of one setup and seed: data and pre-trained networks."""

    task: Task
    data: FederatedData
    extractor: torch.Tensor  # (P,) after the pre-training
    kept: Kept

    def serves(self, task: Task) -> bool:
        """Whether another task has the same start: it differs in its defense alone."""
        own = self.task
        same = task.table is own.table and task.settings is own.settings
        return same and (task.setup, task.seed, task.device) == (own.setup, own.seed, own.device)


@dataclass(frozen=True)
class Pretraining(Defense):
    """Pre-training before a defense acts: the extractor with one network, without an adversary."""

    role: str = "utility"

    @property
    def roles(self) -> Mapping[str, float]:
        """The one network, with weight 1."""
        return {self.role: 1.0}


class Federated(Protocol):
    """Federated representation learning, with a server that infers an attribute from representations."""

    shows: ClassVar[set[str]] = {
        "known", "known_attribute", "known_mean", "attacked", "attacked_mean", "values", "architecture", "inputs",
        "inner",
    }  # fmt: skip
    targets: ClassVar[set[str]] = {"attribute", "attribute_by_device"}
    keys: ClassVar[set[str]] = {
        "model", "rows", "batch", "rate", "records", "known", "devices", "participation", "rounds", "local_epochs",
        "pretraining", "pretrained_for", "participants", "average", "imbalance", "sensitive_among_inputs", "head_rows",
        "head_epochs", "timed_steps",
    }  # fmt: skip

    def __init__(self) -> None:
        self._start: Start | None = None  # of the last run: matching tries strength after strength

    def run(self, task: Task) -> Outcome:
        """Train one extractor under each setting of the defense, all from the same initialization and batches."""
        _, data, extractor, kept = self._started(task)
        records, outcome = FederatedRecords(task, data), Outcome()
        for setting, defense in steps(list(task.defenses.items()), f"run {task.name}"):
            as_drawn: tuple[torch.Tensor, Kept] = _vector(first(task, data, "extractor")), {}
            trained, own = train(task, setting, defense, data, extractor, kept) if defense.roles else as_drawn
            outcome.transcripts[setting], rows = records.finish(setting, defense, trained, own)
            rows += [{"metric": name, "value": value} for name, value in defense.spent(federation(task)).items()]
            outcome.utility += [{"setting": setting} | row for row in rows]
        outcome.shared, outcome.truth = records.shared, records.truth
        return outcome

    def _started(self, task: Task) -> Start:
        if self._start is None or not self._start.serves(task):
            self._start = None  # frees its memory first
            data = prepared(task)
            self._start = Start(task, data, *pretrained(task, data))
        return self._start

    def cases(self, transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], Any]]:
        """The attacked view of the final extractor; by device, one for each that trained an inference network."""
        seen = {name: transcript[name] for name in self.shows if name in transcript}
        if target == "attribute" or "inner" not in seen:
            yield {}, seen, "attribute"
            return
        for device, inner in enumerate(seen["inner"]):
            yield {"device": device}, seen | {"inner": inner}, "attribute"

    def guess_spec(self, seen: Arrays, target: str) -> GuessSpec:
        """The expected guess: probabilities of the attribute's values."""
        return guess_spec(seen, target)

    def leak(self, guess: np.ndarray, truth: Arrays, case: Case, rows: Any, given: ArrayLike = ()) -> dict[str, float]:
        """Leakage metrics of a guess of the attribute; `uniform` is the paper's random guessing, 1/|U|."""
        return leak(guess, truth, rows) | {"uniform": 1 / guess.shape[-1]}


def pretrained(task: Task, data: FederatedData, at_once: bool = True) -> tuple[torch.Tensor, Kept]:
    """The pre-trained extractor (P,) from which every training of this setup and seed starts, and devices' networks."""
    start, way = first(task, data, "extractor"), Pretraining(task.settings.get("pretrained_for", "utility"))
    return _rounds(task, way, data, _vector(start), {}, BEFORE, task.settings["pretraining"], at_once, "")


def train(
    task: Task, setting: str, defense: Defense, data: FederatedData, extractor: torch.Tensor, kept: Kept,
    at_once: bool = True,
) -> tuple[torch.Tensor, Kept]:  # fmt: skip
    """The extractor (P,) after all rounds, and the devices' networks; neither `extractor` nor `kept` is changed."""
    own = {role: dict(devices) for role, devices in kept.items()}
    return _rounds(task, defense, data, extractor.clone(), own, ROUND, task.settings["rounds"], at_once, setting)


def federation(task: Task, setting: str = "") -> FederationContext:
    """The devices' context of a training."""
    draw = torch.Generator().manual_seed(seed_of(task.name, setting, "defense"))
    count = len(participants(task, ROUND, 0))
    return FederationContext(
        devices=task.settings["devices"],
        participants=count,
        rounds=task.settings["rounds"],
        generator=draw,
        device=task.device,
    )


def _rounds(
    task: Task, defense: Defense, data: FederatedData, extractor: torch.Tensor, kept: Any, stage: str, count: int,
    at_once: bool, setting: str,
) -> tuple[torch.Tensor, Kept]:  # fmt: skip
    """Rounds of federated averaging."""
    shared, networks = federation(task, setting), networks_of(task, defense, data)
    starts = {role: _vector(networks[role]) for role in defense.roles}
    for role in starts:
        kept.setdefault(role, {})
    local = (Grouped if at_once else Sequential)(networks, data)
    for turn in steps(range(count), f"rounds of {task.name}"):
        devices, selected = training_devices(task, stage, turn)
        orders = {int(device): data.order(task, stage, turn, int(device)) for device in devices}
        own = {role: {i: kept[role].get(i, start) for i in orders} for role, start in starts.items()}
        after = local.train(extractor, own, orders, defense, task.settings["rate"])[selected]
        for role, networks_kept in own.items():
            kept[role].update(networks_kept)
        sent = after if stage == BEFORE else defense.upload(extractor, after, shared)
        extractor = averaged(sent, data.sizes[devices[selected]] if task.settings["average"] == "weighted" else None)
        if not bool(extractor.isfinite().all()):
            raise InputError(f"run.{task.name}", f"{setting or 'training'} diverged", "lower the rate or the strength")
    return extractor, kept


def networks_of(task: Task, defense: Defense, data: FederatedData) -> dict[str, torch.nn.Module]:
    """The initial extractor and the networks trained alongside it, by role."""
    return {role: first(task, data, role) for role in ("extractor", *defense.roles)}


def averaged(sent: torch.Tensor, sizes: np.ndarray | None) -> torch.Tensor:
    """Federated averaging: the mean (P,) of D devices' uploads (D, P), weighted by numbers of rows (D,) if given."""
    if sizes is None:
        return sent.mean(dim=0)
    shares = torch.from_numpy(sizes / sizes.sum()).to(sent)
    return shares @ sent


def stepper(task: Task) -> Callable[[], None]:
    """One round's local training of a task's first setting, the same at each call; nothing is recorded."""
    data = prepared(task)
    ((_, defense), *_) = task.defenses.items()
    networks, (devices, selected) = networks_of(task, defense, data), training_devices(task, ROUND, 0)
    kept = {role: {int(d): _vector(networks[role]) for d in devices} for role in defense.roles}
    orders = {int(d): data.order(task, ROUND, 0, int(d))[:1] for d in devices}
    local, start = Grouped(networks, data), _vector(networks["extractor"])

    def step() -> None:
        after = local.train(start, kept, orders, defense, task.settings["rate"])[selected]
        defense.upload(start, after, federation(task))

    return step


def _vector(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in network.parameters()])
