"""Pydantic models of params.yaml; `plan.Plan` checks it against protocols, methods and datasets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .shapes import ABSENT, Above0, AtLeast0, Different, Fraction, Name, Names, Positive, Shape, Used

Few = Annotated[int, Field(ge=2)]


class Cluster(Shape):
    """Minutes and MB of a job on a cluster; with `small_jobs` all attacks on a run are one, submitted with it."""

    minutes: Positive = 60
    memory: Positive = 2000
    small_jobs: bool = False


class Matching(Shape):
    """Limit on the evaluations of a defense's strength for one target."""

    evaluations: Annotated[int, Field(ge=3)]


class Windows(Shape):
    """Sets of neighboring features that are passive in turn."""

    sizes: Literal["all", "half"] | Positive | Annotated[list[int], Field(min_length=1)] = ABSENT
    at_most: Positive = ABSENT
    starts: Literal["all"] | Positive = ABSENT


class Subsets(Shape):
    """Number of predictions for an attack at a time, and number of repetitions."""

    sizes: Positive | Annotated[list[Positive], Field(min_length=1)]
    repeats: Positive


class Records(Shape):
    """Parts of a run that go into its transcript."""

    batches: Positive = ABSENT
    at: list[Positive] = ABSENT
    first_layer: bool = ABSENT
    last_layer: bool = ABSENT
    attacked: Positive = ABSENT
    queries: Positive = ABSENT


class Known(Shape):
    """Numbers of examples whose truth the attacker knows, and of those that it attacks."""

    rows: Positive = ABSENT
    per_class: Positive = ABSENT
    attacked: Positive = ABSENT
    watched: Positive = ABSENT


class FeatureParty(Shape):
    """A feature party's training if it is malicious, see `games/split/feature_party.py`."""

    optimizer: Literal["adam", "malicious"] = ABSENT
    gamma: AtLeast0 = ABSENT
    ratio_max: Annotated[float, Field(ge=1)] = ABSENT
    compound: bool = ABSENT
    extend: Annotated[int, Field(ge=0)] = ABSENT
    scale: Above0 = ABSENT


class Setting(Shape, extra="allow"):
    """Settings of a variant at a scale or in a setup: parameters, a sweep, or named settings."""

    sweep: Annotated[dict[str, Different], Field(min_length=1)] = ABSENT
    settings: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)] = ABSENT

    @model_validator(mode="after")
    def _one(self) -> Setting:
        if {"sweep", "settings"} <= self.model_fields_set:
            raise ValueError("has `sweep` and `settings`; expected one of them")
        return self


class Variant(Setting, Used):
    """A variant: a method with parameters, under a short name."""


class Sizes(Shape, extra="allow"):
    """Sizes that a scale or a setup may set; the protocol decides which of these keys apply."""

    sensitive: str = ABSENT
    fit_on: Literal["all", "train"] = ABSENT
    predictions: Positive = ABSENT
    kl_predictions: Positive = ABSENT
    model_of: str = ABSENT
    like: str = ABSENT
    coins: Literal["all"] | Positive = ABSENT
    passive: Annotated[list[str], Field(min_length=1)] = ABSENT
    windows: Windows = ABSENT
    rows: Few = ABSENT
    test_share: Fraction = ABSENT
    test_rows: Positive = ABSENT
    batch: Positive = ABSENT
    epochs: Positive = ABSENT
    rate: Above0 = ABSENT
    stream: str = ABSENT
    partition: str = ABSENT
    sigma: Above0 = ABSENT
    noisy_views: Literal["none", "training", "all"] = ABSENT
    excluded: Names = ABSENT
    poison: Fraction = ABSENT
    pairs: Positive = ABSENT
    devices: Few = ABSENT
    participation: Annotated[float, Field(gt=0, le=1)] = ABSENT
    participants: Literal["averaged", "selected"] = ABSENT
    rounds: Positive = ABSENT
    local_epochs: Positive = ABSENT
    pretraining: Annotated[int, Field(ge=0)] = ABSENT
    pretrained_for: Literal["utility", "task"] = ABSENT
    average: Literal["plain", "weighted"] = ABSENT
    imbalance: AtLeast0 = ABSENT
    sensitive_among_inputs: bool = ABSENT
    head_rows: Literal["all", "device"] = ABSENT
    head_epochs: Positive = ABSENT
    timed_steps: Positive = ABSENT
    records: Records = ABSENT
    known: Known = ABSENT
    feature_party: FeatureParty = ABSENT
    defenses: dict[str, Setting] = ABSENT


class Setup(Sizes):
    """A setup: a dataset and a model in a protocol."""

    protocol: str
    dataset: str
    model: Used
    subsets: Subsets = ABSENT  # whole; a scale may give a part


class InFew(Shape):
    """Defenses and attacks that a scale runs in these setups alone."""

    setups: Annotated[Names, Field(min_length=1)]
    defenses: Names = ABSENT
    attacks: Names = ABSENT


class Scale(Shape, extra="allow"):
    """A scale: sizes for all setups of a protocol, and for single models, setups and variants."""

    __pydantic_extra__: dict[str, Sizes]
    seeds: Positive
    printed_numbers: bool = True  # whether those that depend on the scale are judged
    only_published: bool = False  # whether it has those exhibits alone of which a paper prints numbers
    cluster: Cluster = Cluster()
    matching: Matching = ABSENT
    one_seed_a_job: Names = ABSENT  # setups whose jobs would be long with all seeds
    temporary: Names = ABSENT  # setups whose transcripts are deleted once all that reads them is done
    in_few_setups: InFew = ABSENT
    models: dict[str, dict[str, Any]] = ABSENT
    setups: dict[str, Sizes] = ABSENT
    defenses: dict[str, Setting] = ABSENT
    attacks: dict[str, Setting] = ABSENT


class Methods(Shape):
    """A methods.yaml: variants of methods outside the tree, in the form of params.yaml."""

    setups: dict[Name, Setup] = ABSENT
    defenses: dict[Name, Variant] = ABSENT
    attacks: dict[Name, Variant] = ABSENT


class Trying(Shape):
    """Options of `make try`: setups, a sweep, and for a dataset the setup whose settings it takes.

    The last two are for what methods.yaml does not name.
    """

    setups: Names = ABSENT
    like: str = ABSENT
    sweep: Annotated[dict[str, Different], Field(min_length=1)] = ABSENT


class Part(Shape):
    """The part of the papers to run: names of setups, defenses, attacks; a kind without names is run in full."""

    setups: Names = ABSENT
    defenses: Names = ABSENT
    attacks: Names = ABSENT


class Params(Shape):
    """The whole params.yaml; the last three keys are for `--config` and `make try`."""

    scale: str
    stand_ins: bool
    mirror: str = ABSENT
    papers: Names
    scales: Annotated[dict[str, Scale], Field(min_length=1)]
    setups: Annotated[dict[Name, Setup], Field(min_length=1)]
    defenses: Annotated[dict[Name, Variant], Field(min_length=1)]
    attacks: Annotated[dict[Name, Variant], Field(min_length=1)]
    only: Part = ABSENT
    methods: str = ABSENT  # a file or a folder of methods outside the tree
    trying: Trying = ABSENT
