"""The clients' defenses of the protocol split_server, in a small loop like the protocol's, and what each guarantees."""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from tests.games.contracts import DIFFER, draws_with
from torch import nn

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.split_server.defense import ClientsContext, Context, Defense
from cutlayer.games.split_server.defenses._leakage import Leakage
from cutlayer.games.split_server.defenses._pretraining import pretrained
from cutlayer.games.split_server.defenses._search import _guarded
from cutlayer.games.split_server.defenses.infocensor import mixture_leakage
from cutlayer.information import gaussian_leakage
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.plan import plugins

ROWS, BATCH, INPUTS, WIDTH = 1024, 256, 6, 8
NAMES = plugins.names("defense", "split_server")
SMALL = {"threshold": 0.05, "components": 4}
QUICK = {"tcpo": SMALL, "tcpo_composed": SMALL, "linear": {"components": 4}}


def seeded(*name: object) -> torch.Generator:
    return torch.Generator().manual_seed(int(generator("test_attribute_defenses", *name).integers(2**31)))


def data(values: int, name: str = "data") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(rows, attribute, label): two columns show the attribute, another two the label, which the attribute sways."""
    draw = seeded(name, values)
    attribute = torch.randint(values, (ROWS,), generator=draw)
    label = (torch.rand(ROWS, generator=draw) < 0.3 + 0.4 * (attribute > 0)).long()
    x = torch.randn((ROWS, INPUTS), generator=draw)
    x[:, :2] += 1.5 * attribute[:, None]
    x[:, 2:4] += 1.5 * label[:, None]
    return x, attribute, label


class Classifier(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, 16), nn.ReLU(), nn.Linear(16, outputs))

    def forward(self, features: torch.Tensor, x: dict) -> torch.Tensor:
        return self.layers(features.flatten(1))


@dataclass
class Play:
    """What a training leaves behind."""

    clients: ClientsContext
    state: Any
    encoder: nn.Module
    losses: list[float] = field(default_factory=list)
    moved: list[bool] = field(default_factory=list)
    report: dict = field(default_factory=dict)

    @property
    def leakage(self) -> float:
        """Of all rows, as the trained encoder sends them."""
        with torch.no_grad():
            features = self.clients.features(torch.arange(ROWS))
        return gaussian_leakage(features, self.clients.attribute, self.clients.sigma, 4).item()


def joined(own: Defense, values: int = 2, image: bool = False, steps: int = 0) -> Play:
    """The clients, an encoder and what the defense remembers, before the first step."""
    x, attribute, _label = data(values)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        encoder = nn.Sequential(nn.Linear(INPUTS, 16), nn.ReLU(), nn.Linear(16, WIDTH))
        with torch.no_grad():
            encoder[-1].weight *= 4  # so that features are larger than the noise
    draw = seeded("defense")

    def features(rows: torch.Tensor) -> torch.Tensor:
        out = encoder(x[rows])
        return own.release(out.reshape(len(rows), 2, 2, 2) if image else out)

    def decoder(outputs: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(2**31, (), generator=draw)))
            return Classifier(outputs)

    def batch() -> torch.Tensor:
        return torch.randint(ROWS, (BATCH,), generator=draw)

    known = ClientsContext(
        attribute=attribute, values=values, sigma=1.0, epochs=1, steps=steps, features=features,
        parameters=list(encoder.parameters()), decoder=decoder, batch=batch, generator=draw,
    )  # fmt: skip
    return Play(known, own.begin(known), encoder)


def step(own: Defense, play: Play, top: nn.Module, encoder: Any, classifier: Any, draw: torch.Generator) -> None:
    """There and back, as the protocol's."""
    rows = torch.randperm(ROWS, generator=draw)[:BATCH]
    clients, label = play.clients, data(play.clients.values)[2]
    encoder.zero_grad()
    classifier.zero_grad()
    features = clients.features(rows)
    sigma = own.deviation(clients) or clients.sigma
    sent = (features + sigma * torch.randn(features.shape, generator=draw)).detach()
    loss = nn.functional.cross_entropy(top(sent.requires_grad_(), {}), label[rows])
    loss.backward()
    classifier.step()
    context = Context(clients, rows, loss.item(), play.state)
    before = [p.detach().clone() for p in clients.parameters]
    play.moved.append(own.update((features * sent.grad).sum(), features, context))
    if play.moved[-1]:
        encoder.step()
        if own.watches:
            own.moved(before, context)
    play.losses.append(loss.item())


def played(own: Defense, steps: int, values: int = 2, image: bool = False, rate: float = 0.01) -> Play:
    """A training of so many steps."""
    play = joined(own, values, image, steps)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        top = Classifier(2)
    adam, parameters = torch.optim.Adam, play.clients.parameters
    of_encoder = adam(parameters, rate) if own.descent(rate)[0] == "adam" else Sgd(parameters, rate)
    of_classifier, draw = adam(top.parameters(), 0.01), seeded("batches")
    for _ in range(steps):
        step(own, play, top, of_encoder, of_classifier, draw)
    play.report = own.report(play.state)
    return play


@dataclass
class Sgd:
    parameters: list[torch.Tensor]
    rate: float

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        for parameter in self.parameters:
            parameter -= self.rate * parameter.grad


def defense(name: str, **parameters: Any) -> Defense:
    return plugins.create("defense", name, QUICK.get(name, {}) | parameters, "split_server")


@functools.cache
def bare() -> Play:
    return played(defense("none"), 100)


# All of them.


def test_these_are_the_defenses() -> None:
    assert {"none", "adv", "adv2", "infocensor", "linear", "tcpo", "tcpo_composed", "gaussian_features"} <= set(NAMES)


@pytest.mark.parametrize("image", [False, True])
@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_training_is_its_seed_s_alone(name: str, values: int, image: bool) -> None:
    """Twice the same, whatever torch's global generator is at, which it leaves where it was."""
    runs = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        own, known = {"threshold": 0.2} if name.startswith("tcpo") else {}, data(values)[1].clone()
        with draws_with("context"):
            runs.append(played(defense(name, **own), 12, values, image))
        assert torch.equal(runs[-1].clients.attribute, known), (
            "changed the attribute it was given; expected a new tensor"
        )
    first, second = runs
    assert first.losses == second.losses, DIFFER.format("trainings", "the context")
    for p, q in zip(first.clients.parameters, second.clients.parameters, strict=True):
        assert p.isfinite().all(), "the encoder's parameters are not finite after 12 steps"
        assert torch.equal(p, q), DIFFER.format("trainings", "the context")
    start = joined(defense("none"), values, image).clients.parameters
    still = any(torch.equal(p, q) for p, q in zip(first.clients.parameters, start, strict=True) if p.ndim == 2)
    assert still == (name == "send_nothing"), (
        "the encoder does not move in 12 steps: update returned False, or set no gradients"
    )


@pytest.mark.parametrize("name", ["adv", "adv2", "infocensor", "linear"])
def test_a_weight_of_0_is_no_defense(name: str) -> None:
    own, none = (played(defense(n, **p), 5) for n, p in ((name, {"weight": 0.0}), ("none", {})))
    assert own.losses == pytest.approx(none.losses, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("adv", {"weight": 2.0, "rate": 0.01}), ("infocensor", {"weight": 1.0}), ("linear", {"weight": 1.0})],
)
def test_a_defense_lowers_the_leakage_of_the_encoder(name: str, parameters: dict) -> None:
    assert played(defense(name, **parameters), 100).leakage < bare().leakage


# adv and adv2.


def told(play: Play) -> torch.Tensor:
    """The own adversary's logits for all rows, without noise."""
    return play.state.network(play.clients.features(torch.arange(ROWS)), {})


@pytest.mark.parametrize("name", ["adv", "adv2"])
@pytest.mark.parametrize("values", [2, 3])
def test_the_adversary_learns(name: str, values: int) -> None:
    """With an encoder that does not fight it, it is better than the most common value by 5 standard errors."""
    play = played(defense(name, weight=0.0, rate=0.01), 100, values)
    accuracy = (told(play).argmax(1) == play.clients.attribute).float().mean()
    majority = play.clients.attribute.bincount().max().item() / ROWS
    assert accuracy > majority + 5 * (majority * (1 - majority) / ROWS) ** 0.5


def behind(play: Play) -> float:
    """By how much the own adversary's cross-entropy on held-out rows is above that of one that is trained anew."""
    x, attribute, _ = data(2, "held out")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        anew, held = Classifier(2), play.encoder(x)
        known = play.clients.features(torch.arange(ROWS))
    adam = torch.optim.Adam(anew.parameters(), 0.01)
    for _ in range(400):
        adam.zero_grad()
        nn.functional.cross_entropy(anew(known, {}), play.clients.attribute).backward()
        adam.step()
    own, best = (nn.functional.cross_entropy(net(held, {}), attribute).item() for net in (play.state.network, anew))
    return own - best


def test_of_five_steps_the_adversary_is_as_good_as_one_trained_anew_and_of_one_it_is_not() -> None:
    """So an encoder that it does not read any more hides the attribute from others, too, and not from it alone."""
    one, five = (behind(played(defense("adv", weight=3.0, rate=0.01, steps=n), 200)) for n in (1, 5))
    assert five < 0.05
    assert one > 0.15


def lessons(**parameters: Any) -> tuple[list[tuple[torch.Tensor, torch.Tensor]], torch.Tensor, torch.Tensor]:
    """What the adversary learns from in the first step, and the encoder's batch: features and attribute."""
    own = defense("adv", **parameters)
    play, rows, taught = joined(own), torch.arange(BATCH), []

    class Pupil(type(play.state)):  # type: ignore[misc]
        def learn(self, features: torch.Tensor, attribute: torch.Tensor) -> None:
            taught.append((features, attribute))

    features = play.clients.features(rows)
    state = Pupil(play.state.network, play.state.optimizer)
    own.penalty(features, Context(play.clients, rows, 0.7, state))
    return taught, features.detach(), play.clients.attribute[rows]


@pytest.mark.parametrize("steps", [1, 4])
def test_the_adversary_s_last_step_is_on_the_encoder_s_batch_and_the_others_are_on_their_own(steps: int) -> None:
    taught, features, attribute = lessons(steps=steps)
    assert len(taught) == steps
    assert not any(features.requires_grad for features, _ in taught)
    torch.testing.assert_close(taught[-1][0], features)
    assert torch.equal(taught[-1][1], attribute)
    assert len({own.sum().item() for own, _ in taught}) == steps
    for own, values in taught:  # each row with its own attribute, which the first two features show
        apart = own[values == 1].mean(dim=0) - own[values == 0].mean(dim=0)
        assert apart[:2].sum() > 0.8


def test_the_adversary_may_take_all_steps_on_one_batch_and_see_the_noise() -> None:
    taught, features, attribute = lessons(steps=3, batches="same", sees="noised")
    assert all(torch.equal(own, attribute) for _, own in taught)
    noise = torch.stack([own - features for own, _ in taught])
    assert noise.std(dim=(1, 2)).tolist() == pytest.approx([1.0] * 3, rel=0.1)
    assert len({one.sum().item() for one in noise}) == 3, "each step has noise of its own"


@pytest.mark.parametrize("name", ["adv", "adv2"])
def test_the_encoder_makes_a_given_adversary_worse(name: str) -> None:
    """adv: its cross-entropy rises; adv2: it is less sure, whether it is right or not."""

    own = defense(name)
    play = played(defense(name, weight=0.0, rate=0.01), 100)
    optimizer, attribute, found = torch.optim.Adam(play.clients.parameters, 0.01), play.clients.attribute, []
    for _ in range(20):
        optimizer.zero_grad()
        logits = told(play)
        sure = logits.softmax(1).amax(1).mean().item()
        found.append(sure if name == "adv2" else -nn.functional.cross_entropy(logits, attribute).item())
        own._harm(logits, attribute).backward()
        optimizer.step()
    assert found[-1] < found[0]


def test_adv_rewards_a_wrong_adversary() -> None:
    own, attribute = defense("adv"), torch.tensor([0, 1])
    right, wrong = torch.eye(2) * 3, torch.eye(2).flip(0) * 3
    assert own._harm(wrong, attribute) < own._harm(torch.zeros(2, 2), attribute) < own._harm(right, attribute)


@pytest.mark.parametrize("values", [2, 3])
def test_adv2_wants_an_adversary_that_is_sure_of_nothing(values: int) -> None:
    """The attribute itself does not matter: only what is predicted; from it, the others alike."""
    own, logits = defense("adv2"), torch.eye(values)[:1] * torch.tensor([[0.5], [1.0], [2.0]])
    sure = [own._harm(one[None], torch.tensor([0])).item() for one in logits]
    assert sure == sorted(sure)
    assert [own._harm(one[None], torch.tensor([1])).item() for one in logits] == sure
    log_q = logits.log_softmax(1)
    assert sure == pytest.approx((-log_q[:, 1:].mean(dim=1)).tolist(), rel=1e-6)


# infocensor.


def spelled_out(z: torch.Tensor, attribute: torch.Tensor, sigma: float) -> float:
    """Hershey and Olsen's variational approximation (equation 18), pair by pair; all weights of a mixture are equal."""
    total, classes = 0.0, attribute.unique().tolist()
    for a in classes:
        for b in classes:
            own, other = z[attribute == a], z[attribute == b]
            kl = 0.0
            for x in own:
                near = [((x - y).square().sum() / (2 * sigma**2)).neg().exp() for y in own]
                far = [((x - y).square().sum() / (2 * sigma**2)).neg().exp() for y in other]
                kl += float((sum(near) / len(own)).log() - (sum(far) / len(other)).log()) / len(own)
            total += len(own) * len(other) / len(z) ** 2 * kl
    return total


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_infocensor_s_penalty_is_the_sum_over_pairs(values: int, sigma: float) -> None:
    draw = seeded("mixtures", values)
    z, attribute = torch.randn((30, 4), generator=draw).double(), torch.randint(values, (30,), generator=draw)
    found = mixture_leakage(z.reshape(30, 2, 2), attribute, sigma).item()
    assert found == pytest.approx(spelled_out(z, attribute, sigma), rel=1e-9)


def test_infocensor_s_divergence_of_single_gaussians_is_exact() -> None:
    """One example a class: KL(N(0, s^2) || N(x, s^2)) = |x|^2 / (2 s^2), in both orders, each with the weight 1/4."""
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert mixture_leakage(z, torch.tensor([0, 1]), 2.0).item() == pytest.approx(2 * 25 / 8 / 4)


def test_infocensor_s_divergence_is_0_for_equal_mixtures_and_where_one_class_is_there() -> None:
    z = torch.randn((20, 3), generator=seeded("equal"))
    assert mixture_leakage(z.repeat(2, 1), torch.arange(40) // 20, 1.0).item() == pytest.approx(0, abs=1e-6)
    assert mixture_leakage(z, torch.ones(20).long(), 1.0).item() == pytest.approx(0, abs=1e-6)


def test_infocensor_s_divergence_of_far_examples_does_not_overflow() -> None:
    z = (1e3 * torch.eye(4)).requires_grad_()
    mixture_leakage(z, torch.tensor([0, 0, 1, 1]), 1.0).backward()
    assert z.grad.isfinite().all()
    assert z.grad.any()


# L_p of linear and tcpo.


def watched(rows: int = 0, components: int = 4, values: int = 3) -> tuple[Play, Leakage]:
    play = joined(defense("none"), values)
    return play, Leakage(play.clients, components, rows)


def slopes(play: Play, scalar: torch.Tensor) -> torch.Tensor:
    return torch.cat([g.flatten() for g in torch.autograd.grad(scalar, play.clients.parameters)])


@pytest.mark.parametrize(("rows", "own"), [(0, range(BATCH)), (ROWS, range(ROWS))])
def test_the_leakage_and_its_gradient_are_those_of_the_batch_or_of_all_rows(rows: int, own: range) -> None:
    play, leakage = watched(rows)
    batch, places = torch.arange(BATCH), torch.tensor(own)
    found = leakage(play.clients.features(batch), batch)
    expected = gaussian_leakage(play.clients.features(places), play.clients.attribute[places], 1.0, 4)
    assert leakage.trace == [found.item()] == pytest.approx([expected.item()], rel=1e-6)
    torch.testing.assert_close(slopes(play, found), slopes(play, expected), rtol=1e-4, atol=1e-7)


def test_fewer_rows_are_drawn_anew_and_none_twice() -> None:
    _, leakage = watched(rows=100)
    first, second = leakage._drawn(), leakage._drawn()
    assert len(first.unique()) == len(first) == 100
    assert not torch.equal(first.sort().values, second.sort().values)


@pytest.mark.parametrize("kernels", [False, True])
def test_few_rows_show_more_leakage_than_there_is(kernels: bool) -> None:
    """What the printed algorithm protects by: the bias of a batch is beyond any threshold of the paper."""
    play, _ = watched(values=2)
    play.clients.attribute.random_(2, generator=seeded("nothing"))  # the features tell nothing of it
    every = Leakage(play.clients, WIDTH, ROWS, kernels).drawn().item()
    leakage = Leakage(play.clients, WIDTH, 0, kernels)
    batches = [leakage.drawn().item() for _ in range(50)]
    assert np.mean(batches) > 3 * every
    assert np.mean(batches) > 0.005


# linear.


def test_linear_leaks_less_with_more_weight() -> None:
    light, heavy = (played(defense("linear", weight=weight), 100) for weight in (0.1, 10.0))
    assert heavy.report["leakage"].shape == (100,)
    assert heavy.report["leakage"][20:].mean() < light.report["leakage"][20:].mean()
    assert heavy.leakage < light.leakage < bare().leakage


# tcpo.


@functools.cache
def pareto(optimizer: str, rate: float, steps: int = 100, threshold: float = 0.05, front: float = -0.98) -> Play:
    own = defense("tcpo", optimizer=optimizer, threshold=threshold, front=front)
    return played(own, steps, rate=rate)


def test_the_attribute_leaks_before_pre_training_and_less_after() -> None:
    """Below the threshold, if it is held against L_p of all rows; a batch may be there before."""
    before, of_batches, of_all = (joined(own) for own in (defense("none"), defense("tcpo"), defense("tcpo", rows=ROWS)))
    assert min(play.state.report()["pretraining_steps"] for play in (of_batches, of_all)) > 0
    assert before.leakage > 0.1
    assert of_batches.leakage < before.leakage / 2
    assert of_all.leakage <= 0.05


def test_the_batch_that_ends_pre_training_leaks_less_than_the_next_ones_do_on_average() -> None:
    """So the first step of a training is above the threshold more often than not."""
    _, leakage = watched(values=2)
    steps, last = pretrained(leakage, 0.05, 0.001, 5000)
    assert steps > 0
    assert last <= 0.05 < np.mean([leakage.drawn().item() for _ in range(50)])


def test_tcpo_trains_on_what_kernels_estimate_and_pre_trains_on_what_has_noise() -> None:
    rows, found = torch.arange(BATCH), {}
    for widening in ("noise", "kernels"):
        play = joined(defense("tcpo", widening=widening))
        features = play.clients.features(rows)
        expected = gaussian_leakage(features, play.clients.attribute[rows], 1.0, 4, widening == "kernels").item()
        assert play.state.leakage(features, rows).item() == pytest.approx(expected, rel=1e-6)
        found[widening] = play.state.report()["pretraining_steps"], expected
    assert found["noise"][0] == found["kernels"][0] > 0
    assert found["noise"][1] < found["kernels"][1]


def test_pre_training_that_is_not_enough_is_an_error_that_says_so() -> None:
    with pytest.raises(InputError, match=r"^defense\.tcpo: L_p is still 0\.\d+ after 3 steps .* threshold is 0\.001;"):
        joined(defense("tcpo", pretraining=3, threshold=0.001))


def test_no_pre_training_where_none_is_needed() -> None:
    assert joined(defense("tcpo", threshold=100.0, pretraining=0)).state.report()["pretraining_steps"] == 0


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_tcpo_learns_the_task(optimizer: str) -> None:
    play = pareto(optimizer, 0.01 if optimizer == "adam" else 0.1)
    assert np.mean(play.losses[-10:]) < np.mean(play.losses[:10])
    assert play.leakage < bare().leakage


@pytest.mark.parametrize("front", [-0.98, 1.0])
def test_with_sgd_no_step_over_the_threshold_raises_l_p_to_first_order(front: float) -> None:
    """A front of 1 is always reached, so that utility comes first and the guard is needed."""
    report = pareto("sgd", 0.1, threshold=0.05, front=front).report
    assert report["guard_broken"] == 0
    if front == 1:
        assert report["threshold_broken"] > 0.05
        assert 0 < report["privacy_ascent"] < 1


def test_with_sgd_all_rows_and_all_axes_l_p_stays_below_the_threshold() -> None:
    """Then the gradient is L_p's own: it is not held, and no axes turn."""
    own = defense("tcpo", optimizer="sgd", rows=ROWS, components=WIDTH)
    play = played(own, 100, rate=0.05)
    assert play.report["leakage"].max() <= 0.05
    assert np.mean(play.losses[-10:]) < np.mean(play.losses[:10])


def test_with_adam_the_guarantee_fails() -> None:
    """Why sgd is there: the paper's optimizer raises L_p over the threshold."""
    assert pareto("adam", 0.01, threshold=0.05, front=1.0).report["guard_broken"] > 0


def test_the_report_has_l_p_of_each_step_and_shares() -> None:
    play = pareto("sgd", 0.1, front=1.0)
    report = play.report
    assert report["leakage"].shape == (100,)
    assert report["threshold_broken"] == pytest.approx(np.mean(report["leakage"] > 0.05))
    assert report["stopped"] == pytest.approx(1 - np.mean(play.moved))
    assert report["at_front"] == 1
    assert pareto("sgd", 0.1).report["at_front"] < 1


def test_the_step_is_the_gradients_combined_as_equation_12_wants() -> None:
    """Away from the front both losses fall, and in proportion to what they are."""
    play = joined(defense("tcpo"))
    own, rows = defense("tcpo"), torch.arange(BATCH)
    features = play.clients.features(rows)
    draw = torch.randn(features.shape, generator=seeded("received")) / BATCH
    utility = (features * draw).sum()
    g_u = torch.cat([g.flatten() for g in torch.autograd.grad(utility, play.clients.parameters, retain_graph=True)])
    assert own.update(utility, features, Context(play.clients, rows, 0.7, play.state))
    d = torch.cat([p.grad.flatten() for p in play.clients.parameters])
    falls = [(g.double() @ d.double()).item() for g in (g_u, play.state._privacy)]
    value = play.state.leakage.trace[-1]
    assert min(falls) > 0
    assert falls[0] / falls[1] == pytest.approx(0.7 / value, rel=1e-2)


def test_without_a_direction_the_encoder_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutlayer.games.split_server.defenses._search.direction", lambda *_: None)
    play = played(defense("tcpo"), 3)
    assert play.moved == [False] * 3
    assert play.report["stopped"] == 1
    start = joined(defense("tcpo")).clients.parameters
    assert all(torch.equal(p, q) for p, q in zip(play.clients.parameters, start, strict=True))
    assert all(p.grad is None for p in play.clients.parameters)


def across(case: int) -> tuple[torch.Tensor, torch.Tensor]:
    """g_p and a d across it, in exact arithmetic."""
    privacy, d = torch.randn((2, 5000), generator=seeded("guard", case)).double()
    return privacy.float(), (d - (d @ privacy / privacy.square().sum()) * privacy).float()


def test_the_guard_holds_of_the_rounded_step() -> None:
    """g_p'd >= 0 as computed: rounding makes it negative for some of these."""
    before, after = [], []
    for privacy, d in map(across, range(20)):
        found = _guarded(d, privacy)
        before.append(float(privacy.double() @ d.double()))
        after.append(float(privacy.double() @ found.double()))
        torch.testing.assert_close(found, d, rtol=0, atol=1e-5)
    assert min(before) < 0 <= min(after)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("adv", {"weight": -1.0}),
        ("adv", {"rate": -1.0}),
        ("adv", {"steps": 0}),
        ("adv", {"sees": "labels"}),
        ("adv2", {"weight": -0.1}),
        ("infocensor", {"weight": -1.0}),
        ("linear", {"components": 0}),
        ("tcpo", {"threshold": -0.1}),
        ("tcpo", {"optimizer": "momentum"}),
        ("tcpo", {"front": -1.1}),
        ("tcpo", {"rows": 1.5}),
        ("tcpo", {"rows": -1}),
        ("tcpo", {"pretraining": 1.5}),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(name: str, wrong: dict) -> None:
    with pytest.raises(InputError, match=rf"^defense\.{name}: {next(iter(wrong))} = "):
        defense(name, **wrong)


# gaussian_features and tcpo_composed.


def sent_often(name: str, **parameters: Any) -> tuple[Defense, ClientsContext]:
    """A defense and clients who send each row six times in training and three times later."""
    own = defense(name, **parameters)
    clients = joined(defense("none")).clients
    return own, dataclasses.replace(clients, sigma=0.5, epochs=6, queries=3)


@pytest.mark.parametrize("shape", [(5, 8), (5, 2, 2, 2)])
def test_no_row_is_sent_longer_than_the_clip_and_none_in_another_direction(shape: tuple[int, ...]) -> None:
    lengths = torch.logspace(-3, 3, 5).reshape(-1, *(len(shape) - 1) * [1])
    rows = torch.randn(shape, generator=seeded("clip")) * lengths
    rows[0] = 0
    own = defense("gaussian_features", clip=2.0)
    before, after = (some.flatten(1) for some in (rows, own.release(rows)))
    torch.testing.assert_close(after.norm(dim=1), before.norm(dim=1).clamp_max(2.0))
    torch.testing.assert_close(torch.cosine_similarity(before[1:], after[1:]), torch.ones(4))


@pytest.mark.parametrize("epsilon", [1.0, 30.0])
def test_two_rows_as_far_apart_as_they_may_be_leak_what_all_sendings_may_and_any_others_less(epsilon: float) -> None:
    own, clients = sent_often("gaussian_features", epsilon=epsilon, clip=2.0)
    bound = own.auc_bound(clients)
    draw, rows = seeded("promise"), 20_000
    which = torch.arange(rows) % 2
    error = 5 * chance_floor(rows // 2, rows // 2) / 1.96
    for apart, reaches in ((1e3, True), (1.0, False)):
        features = own.release(apart * (which[:, None] - 0.5) * torch.eye(WIDTH)[0])
        noise = own.deviation(clients) * torch.randn((6, rows, WIDTH), generator=draw)
        found = leak_auc((features + noise).sum(dim=0)[:, 0].numpy(), which.numpy())
        assert found < bound + error
        assert not reaches or found > bound - error


def test_noise_is_for_the_epochs_or_for_the_queries_whichever_are_more() -> None:
    for name in ("gaussian_features", "tcpo_composed"):
        own, clients = sent_often(name)
        noise = [own.deviation(dataclasses.replace(clients, epochs=e, queries=q)) for e, q in ((6, 3), (3, 6), (6, 1))]
        assert noise[0] == noise[1] == noise[2]
        assert own.deviation(dataclasses.replace(clients, epochs=12)) > noise[0]


def test_the_mean_of_all_sendings_under_tcpo_composed_has_the_noise_that_its_leakage_is_of() -> None:
    own, clients = sent_often("tcpo_composed")
    assert own.deviation(clients) / math.sqrt(clients.num_releases) == pytest.approx(clients.sigma)
