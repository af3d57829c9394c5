"""Local training on the devices: the extractor and the networks that each device keeps alongside it.

`Grouped` trains the devices of a round in parallel (`Stacked`), in groups if they are large. `Sequential` trains one
after the other, with plain layers: the same computation, as the reference for tests.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning against
Attribute Inference Attacks", algorithm 1, with the sign of equation (7) where the defense has it. All three networks
are updated simultaneously, on one forward pass: the losses at the old parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot, softplus

from cutlayer.core.descent import descend
from cutlayer.games.federated.defense import Defense
from cutlayer.information import jsd

from .data import Batch, FederatedData
from .stacked import Stack

Kept = Mapping[str, dict[int, Tensor]]  # role -> device -> parameters (P,)
AT_ONCE = 2**22  # parameters of a stack
NO_ROWS = np.zeros(0, dtype=np.int64)


class Weighted(torch.autograd.Function):
    """The identity, whose gradient is scaled by a factor."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, factor: float) -> Tensor:
        """The features, unchanged."""
        ctx.factor = factor
        return features.view_as(features)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """The gradient times the factor."""
        return ctx.factor * gradient, None


def weighted(features: Tensor, factor: float) -> Tensor:
    """Features whose gradient is scaled by a factor, or detached if it is 0."""
    return Weighted.apply(features, factor) if factor else features.detach()


class Stacked:
    """Local training of D devices in parallel."""

    def __init__(self, networks: Mapping[str, nn.Module], devices: int, data: FederatedData) -> None:
        self.data = data
        self.extractor = Stack(networks["extractor"], devices)  # type: ignore[arg-type]
        others = {role: network for role, network in networks.items() if role != "extractor"}
        self.others = {role: _stacked(network, devices).to(data.device) for role, network in others.items()}
        self.extractor.to(data.device)

    def train(self, extractor: Tensor, kept: Kept, orders: Mapping[int, list[list[np.ndarray]]],
              defense: Defense, rate: float) -> Tensor:  # fmt: skip
        """The trained extractors (D, P) of all devices, from (P,); the networks that they keep are updated in place."""
        self.extractor.load(extractor)
        for role, network in self.others.items():
            load(network, torch.stack([kept[role][device] for device in orders]))
        parameters = [p for network in (self.extractor, *self.others.values()) for p in network.parameters()]
        optimizer = torch.optim.SGD(parameters, rate)
        for epoch in zip(*orders.values(), strict=True):
            for rows in itertools.zip_longest(*epoch, fillvalue=NO_ROWS):
                descend(optimizer, self._loss(self.data.batch(list(rows)), defense))
        for role, network in self.others.items():
            own = (each.clone() for each in _flattened(network))  # a part of a tensor would keep all of it
            kept[role].update(zip(orders, own, strict=True))
        return self.extractor.flattened()

    def _loss(self, batch: Batch, defense: Defense) -> Tensor:
        """The sum of the losses of all networks of all devices."""
        features = self.extractor(batch.x)
        losses = [self.losses(role, batch, weighted(features, factor)).sum() for role, factor in defense.roles.items()]
        more = defense.regularizer(features, batch.attribute, batch.mask, self.data.values)
        return torch.stack(losses if more is None else [*losses, more.sum()]).sum()

    def losses(self, role: str, batch: Batch, features: Tensor) -> Tensor:
        """Mean losses (D,) of each device's network of a role on its batch."""
        network = self.others[role]
        if role == "utility":
            together, apart = _scores(network, batch, features, self.data.values)
            return _mean(softplus(-together) + softplus(apart), batch.mask)
        logits = network(features)
        target = batch.attribute if role == "privacy" else batch.labels
        each = cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
        return _mean(each.view(target.shape), batch.mask)


class Grouped:
    """Local training of devices in parallel: all of them on a GPU, groups of few enough parameters on a CPU.

    Larger stacks do not fit into a processor's caches, and their gradients not into memory that is reused.
    """

    def __init__(self, networks: Mapping[str, nn.Module], data: FederatedData) -> None:
        self.networks, self.data = networks, data
        own = sum(p.numel() for network in networks.values() for p in network.parameters())
        self.size = len(data.sizes) if data.device == "cuda" else max(1, AT_ONCE // own)
        self.stacks: dict[int, Stacked] = {}  # by the number of devices

    def train(self, extractor: Tensor, kept: Kept, orders: Mapping[int, list[list[np.ndarray]]],
              defense: Defense, rate: float) -> Tensor:  # fmt: skip
        """As `Stacked.train`."""
        trained = []
        for devices in _groups([*orders], self.size):
            if len(devices) not in self.stacks:
                self.stacks[len(devices)] = Stacked(self.networks, len(devices), self.data)
            own = {device: orders[device] for device in devices}
            trained.append(self.stacks[len(devices)].train(extractor, kept, own, defense, rate))
        return torch.cat(trained)


class Sequential:
    """Local training of one device after the other: the reference for tests."""

    def __init__(self, networks: Mapping[str, nn.Module], data: FederatedData) -> None:
        self.networks, self.data = networks, data

    def train(self, extractor: Tensor, kept: Kept, orders: Mapping[int, list[list[np.ndarray]]],
              defense: Defense, rate: float) -> Tensor:  # fmt: skip
        """As `Stacked.train`."""
        trained = []
        for device, order in orders.items():
            start = {role: kept[role][device] for role in self.networks if role != "extractor"} | {
                "extractor": extractor
            }
            for role, network in self.networks.items():
                torch.nn.utils.vector_to_parameters(start[role].clone(), network.parameters())  # they become views
            optimizer = torch.optim.SGD([p for network in self.networks.values() for p in network.parameters()], rate)
            for rows in (batch for epoch in order for batch in epoch):
                descend(optimizer, self._loss(torch.from_numpy(rows).to(self.data.device), defense))
            for role, network in self.networks.items():
                start[role] = torch.nn.utils.parameters_to_vector(network.parameters()).detach()
                if role != "extractor":
                    kept[role][device] = start[role]
            trained.append(start["extractor"])
        return torch.stack(trained)

    def _loss(self, rows: Tensor, defense: Defense) -> Tensor:
        x, attribute, labels = self.data.x[rows], self.data.attribute[rows], self.data.labels[rows]
        features = self.networks["extractor"](x)
        loss = torch.zeros((), device=self.data.device)
        for role, factor in defense.roles.items():
            seen, network = weighted(features, factor), self.networks[role]
            if role == "utility":
                entry, trunk, joint = network.children()
                of_r, of_u = trunk(seen), one_hot(attribute, self.data.values)
                scores = [joint(torch.cat([trunk(entry(z)), of_r, of_u], dim=1)) for z in (x, x.roll(-1, 0))]
                loss = loss - jsd(*scores)
            else:
                loss = loss + cross_entropy(network(seen), attribute if role == "privacy" else labels)
        everything = torch.ones(1, len(rows), dtype=torch.bool, device=self.data.device)
        more = defense.regularizer(features.unsqueeze(0), attribute.unsqueeze(0), everything, self.data.values)
        return loss if more is None else loss + more.sum()


def _groups(devices: list[int], size: int) -> list[list[int]]:
    return [devices[i : i + size] for i in range(0, len(devices), size)]


def _stacked(network: nn.Module, devices: int) -> nn.Module:
    if isinstance(network, nn.Sequential):
        return Stack(network, devices)
    return nn.ModuleList(Stack(part, devices) for part in network.children())  # type: ignore[arg-type]


def _parts(network: nn.Module) -> list[Stack]:
    return [module for module in network.modules() if isinstance(module, Stack)]


def _flattened(network: nn.Module) -> Tensor:
    return torch.cat([part.flattened() for part in _parts(network)], dim=1)


def load(network: nn.Module, parameters: Tensor) -> None:
    """Load the parameters (D, P) of D devices into the stacks of a network."""
    sizes = [sum(value[0].numel() for value in part.values) for part in _parts(network)]
    for part, own in zip(_parts(network), parameters.split(sizes, dim=1), strict=True):
        part.load(own)


def _scores(critic: nn.Module, batch: Batch, features: Tensor, values: int) -> tuple[Tensor, Tensor]:
    """Critic scores (D, B) of (x, r, u), and of the same with another row's x."""
    entry, trunk, joint = critic.children()
    count = batch.mask.shape[1]
    of_x, of_r = trunk(torch.cat([entry(batch.x), features], dim=1)).split(count, dim=1)
    other = of_x.gather(1, batch.partner.unsqueeze(2).expand_as(of_x))
    rest = torch.cat([of_r, one_hot(batch.attribute, values).to(of_r)], dim=2)
    both = torch.cat([torch.cat([own, rest], dim=2) for own in (of_x, other)], dim=1)
    together, apart = joint(both).squeeze(2).split(count, dim=1)
    return together, apart


def _mean(each: Tensor, mask: Tensor) -> Tensor:
    """Masked mean (D,) over each device's rows (D, B), 0 where it has none."""
    return (each * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)
