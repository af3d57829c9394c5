"""What params.yaml may say; what a protocol, a method or a dataset declares of it, `plan.Plan` checks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .shapes import ABSENT, Above0, AtLeast0, Different, Fraction, Name, Names, Positive, Shape, Used

Few = Annotated[int, Field(ge=2)]


class Cluster(Shape):
    """What a job asks of a cluster, minutes and MB, and whether jobs are so small that all attacks on a run are one,
    and all that builds on a model is submitted together.
    """

    minutes: Positive = 60
    memory: Positive = 2000
    small_jobs: bool = False


class Matching(Shape):
    """How many evaluations of a defense's strength the tuning of it may take, for one target."""

    evaluations: Annotated[int, Field(ge=3)]


class Windows(Shape):
    """Which sets of neighboring features are passive in turn."""

    sizes: Literal["all", "half"] | Positive | Annotated[list[int], Field(min_length=1)] = ABSENT
    at_most: Positive = ABSENT
    starts: Literal["all"] | Positive = ABSENT


class Subsets(Shape):
    """How many predictions an attack gets at a time, and how often."""

    sizes: Positive | Annotated[list[Positive], Field(min_length=1)]
    repeats: Positive


class Records(Shape):
    """What of a run goes into its transcript."""

    batches: Positive = ABSENT
    at: list[Positive] = ABSENT
    first_layer: bool = ABSENT
    attacked: Positive = ABSENT
    queries: Positive = ABSENT


class Known(Shape):
    """Of how many examples the attacker knows the truth, and how many it attacks."""

    rows: Positive = ABSENT
    per_class: Positive = ABSENT
    attacked: Positive = ABSENT
    watched: Positive = ABSENT


class Setting(Shape, extra="allow"):
    """What a scale or a setup says of a variant: parameters, a sweep, or settings with names."""

    sweep: Annotated[dict[str, Different], Field(min_length=1)] = ABSENT
    settings: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)] = ABSENT

    @model_validator(mode="after")
    def _one(self) -> Setting:
        if {"sweep", "settings"} <= self.model_fields_set:
            raise ValueError("has `sweep` and `settings`; one of them is meant")
        return self


class Variant(Setting, Used):
    """A method with parameters under a short name."""


class Sizes(Shape, extra="allow"):
    """What a scale may say of a setup, too; which of these keys it has is up to its protocol."""

    sensitive: str = ABSENT
    fit_on: Literal["all", "train"] = ABSENT
    predictions: Positive = ABSENT
    kl_predictions: Positive = ABSENT
    model_of: str = ABSENT
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
    defenses: dict[str, Setting] = ABSENT


class Setup(Sizes):
    """A dataset and a model in a protocol."""

    protocol: str
    dataset: str
    model: Used
    subsets: Subsets = ABSENT  # whole; a scale may give a part


class Scale(Shape, extra="allow"):
    """Sizes: of everything in a protocol, under the protocol's name, and of single models, setups and variants."""

    __pydantic_extra__: dict[str, Sizes]
    seeds: Positive
    printed_numbers: bool = True  # whether those that depend on the scale are judged
    only_published: bool = False  # whether it has those exhibits alone of which a paper prints numbers
    cluster: Cluster = Cluster()
    matching: Matching = ABSENT
    one_seed_a_job: Names = ABSENT  # setups whose jobs would be long with all seeds
    temporary: Names = ABSENT  # setups whose transcripts are deleted once all that reads them is done
    models: dict[str, dict[str, Any]] = ABSENT
    setups: dict[str, Sizes] = ABSENT
    defenses: dict[str, Setting] = ABSENT
    attacks: dict[str, Setting] = ABSENT


class Methods(Shape):
    """A methods.yaml: variants of methods outside the tree, as params.yaml has them of its own."""

    setups: dict[Name, Setup] = ABSENT
    defenses: dict[Name, Variant] = ABSENT
    attacks: dict[Name, Variant] = ABSENT


class Trying(Shape):
    """How methods outside the tree are tried: in these setups, with a sweep; a dataset in a setup that is like another.

    The last two are for what methods.yaml does not name.
    """

    setups: Names = ABSENT
    like: str = ABSENT
    sweep: Annotated[dict[str, Different], Field(min_length=1)] = ABSENT


class Part(Shape):
    """What of the papers' exhibits is run; of a kind that is not named, everything."""

    setups: Names = ABSENT
    defenses: Names = ABSENT
    attacks: Names = ABSENT


class Params(Shape):
    """The whole file; the last three keys are for `--config` and `make try`."""

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
