"""Titles of datasets and setups."""

from __future__ import annotations

TITLES = {
    "adult_codes": "Adult (coded)",
    "avazu_days": "Avazu, day by day",
    "celeba": "CelebA",
    "cifar10": "CIFAR-10",
    "digits_vs_rest": "Digits, one vs rest",
    "fashion_mnist": "Fashion-MNIST",
    "mnist": "MNIST",
}  # where it is not the name with spaces
WORDS = {
    "faster": "at a faster rate",
    "given": "with it among the inputs",
    "half": "half of the features",
    "halves": "a few halves of the features",
    "l2": "L2 penalty",
    "marital": "marital status",
    "passive": "no wide part",
    "small": "few features",
    "train": "scaled on training rows",
}


def of_dataset(name: str) -> str:
    """Title of a dataset, or of several: `breast_cancer` is Breast cancer."""
    return ", ".join(TITLES.get(one, one.replace("_", " ").capitalize()) for one in name.split(", "))


def of_setup(setup: str, dataset: str) -> str:
    """Title of a setup, which begins with that of its dataset: `bank_l2` is Bank: L2 penalty."""
    title = of_dataset(dataset)
    if setup == dataset or not setup:
        return title
    same = 0
    for own, other in zip(setup.split("_"), dataset.split("_"), strict=False):
        if own != other:
            break
        same += 1
    rest = setup.split("_")[same:]
    return f"{title}: {' '.join(WORDS.get(word, word) for word in rest)}" if rest else title


def with_provenance(setup: str, dataset: str, provenance: str) -> str:
    """Title of a setup, with the provenance of what is not an original."""
    return of_setup(setup, dataset) + ("" if provenance == "real" else f" ({provenance})")
