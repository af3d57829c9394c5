"""CelebA: what is read of the photographs."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets import celeba
from cutlayer.data.normalised import _loaded, normalise, read
from cutlayer.data.sources import COLUMNS
from cutlayer.plan import plugins

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
NAMES = ["Smiling", "Young", "Male", "Attractive", "Bald", "Wearing_Lipstick"]


def table(rows: int) -> pd.DataFrame:
    """Attributes of some photographs as the original gives them; each column is different from its neighbor."""
    marks = [[1 if (row + column) % 3 else -1 for column in range(len(NAMES))] for row in range(rows)]
    return pd.DataFrame(marks, columns=NAMES, index=[f"{row + 1:06}.jpg" for row in range(rows)])


def jpeg(size: tuple[int, int] = (178, 218)) -> bytes:
    """Red above row 20, blue below row 198, between them green on the left and white on the right."""
    image = Image.new("RGB", size, (0, 255, 0))
    image.paste((255, 255, 255), (89, 0, 178, 218))
    image.paste((255, 0, 0), (0, 0, 178, 20))
    image.paste((0, 0, 255), (0, 198, 178, 218))
    out = io.BytesIO()
    image.save(out, "jpeg", quality=95)
    return out.getvalue()


def originals(
    folder: Path, marks: pd.DataFrame, photographs: dict[str, bytes], said: int | None = None
) -> dict[str, Path]:
    """The zip and the list; `said` is the number on the list's first line."""
    lines = [str(len(marks) if said is None else said), " ".join(marks.columns)]
    lines += [
        " ".join([name, *(f"{mark:2}" for mark in row)]) for name, row in zip(marks.index, marks.values, strict=True)
    ]
    files = {celeba.PHOTOGRAPHS: folder / "zip", celeba.LIST: folder / "list"}
    files[celeba.LIST].write_text("\n".join(lines) + "\n")
    with zipfile.ZipFile(files[celeba.PHOTOGRAPHS], "w") as archive:
        for name, content in photographs.items():
            archive.writestr(f"img_align_celeba/{name}", content)
    return files


def parts(files: dict[str, Path]) -> list:
    return list(
        _loaded(plugins.create("dataset", "celeba"), Acquired("celeba", "images", "real", "", "raw", "", files, {}))
    )


def test_photographs_are_squeezed_whole_and_read_in_the_order_of_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(celeba, "AT_ONCE", 2)
    marks = table(3)
    found = parts(originals(tmp_path, marks, {name: jpeg() for name in reversed(marks.index)}))
    assert [len(part.labels) for part in found] == [2, 1]
    labels = np.concatenate([part.labels for part in found])
    np.testing.assert_array_equal(labels, marks.Smiling == 1)
    for name, column in (("male", "Male"), ("attractive", "Attractive"), ("wearing_lipstick", "Wearing_Lipstick")):
        np.testing.assert_array_equal(np.concatenate([p.attributes[name] for p in found]), marks[column] == 1)
    image = found[0].features[0].astype(int)
    assert image.shape == (3, 64, 64)
    places = [(np.s_[:, :5], (255, 0, 0)), (np.s_[:, 60:], (0, 0, 255))]
    places += [(np.s_[:, 7:57, 1:30], (0, 255, 0)), (np.s_[:, 7:57, 34:-1], (255, 255, 255))]
    for where, color in places:
        wanted = np.broadcast_to(np.reshape(color, (3, 1, 1)), image[where].shape)
        np.testing.assert_allclose(image[where], wanted, atol=12)


@pytest.mark.parametrize("damage", ["missing", "another size", "no image", "cut", "another number", "no mark"])
def test_damaged_originals_are_named(tmp_path, damage):
    marks = table(2)
    photographs = {name: jpeg() for name in marks.index}
    if damage == "missing":
        del photographs["000002.jpg"]
    if damage == "no mark":
        marks.iloc[1, 5] = 0
    contents = {"another size": jpeg((178, 178)), "no image": b"<html>", "cut": jpeg()[:-400]}
    photographs |= {"000002.jpg": contents[damage]} if damage in contents else {}
    files = originals(tmp_path, marks, photographs, said=3 if damage == "another number" else None)
    with pytest.raises(InputError, match=r"dataset.celeba: cannot be read \(.*; expected img_align_celeba.zip, list"):
        parts(files)


NUMBERS = (2, 162_770, 162_771, 182_637, 182_638, 202_599)  # first and last of the parts
SMILING = (1, -1, -1, 1, 1, -1)


def small(shade: int, kind: str = "jpeg", size: tuple[int, int] = (64, 64)) -> bytes:
    """A photograph of one gray."""
    out = io.BytesIO()
    Image.new("RGB", size, (shade,) * 3).save(out, kind)
    return out.getvalue()


@pytest.fixture
def sample(monkeypatch) -> dict[str, bytes]:
    """The archive's photographs, which are given in another order than that of their numbers."""
    monkeypatch.setitem(celeba.Celeba.versions, "photographs", {"rows": 6, "class_rates": (0.5, 0.5)})
    monkeypatch.setattr(celeba, "AT_ONCE", 4)
    shades = np.arange(6, dtype=np.uint8)[:, None, None, None] * 40
    pixels = np.broadcast_to(shades, (6, 64, 64, 3)).tobytes()
    monkeypatch.setattr(celeba, "PIXELS", hashlib.sha256(pixels).hexdigest())
    packed = {f"dataset/{number:06}.jpg": small(40 * i) for i, number in enumerate(NUMBERS)}
    return {"dataset/train_full.txt": b"000002.jpg;00000", **dict(reversed(packed.items()))}


def given(folder: Path, photographs: dict[str, bytes], numbers: tuple[int, ...] = NUMBERS, cut: int = 0) -> tuple:
    """What `normalise` takes for the sample: the archive, and a table of attributes with a row for each number."""
    raw = folder / "raw/celeba"
    raw.mkdir(parents=True)
    with tarfile.open(raw / celeba.SMALL, "w:gz") as archive:
        for name, content in photographs.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    content = (raw / celeba.SMALL).read_bytes()
    (raw / celeba.SMALL).write_bytes(content[: len(content) - cut])
    marks = table(len(numbers)).set_axis([f"{number:06}.jpg" for number in numbers])
    marks.assign(Smiling=SMILING[: len(numbers)]).rename_axis("filename").to_csv(raw / celeba.TABLE)
    known = dict.fromkeys(COLUMNS, "") | {"dataset": "celeba", "version": "photographs", "provenance": "sample"}
    with (folder / "sources.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows([known | {"file": celeba.SMALL}, known | {"file": celeba.TABLE}])
    return "celeba", folder / "raw", None, False, folder / "sources.csv", folder / "n"


def test_the_sample_is_in_the_order_of_the_numbers_with_its_attributes_and_parts(tmp_path, sample):
    normalise(*given(tmp_path, sample))
    found, meta = read(tmp_path / "n", "celeba")
    assert (meta["provenance"], meta["version"]) == ("sample", "photographs")
    np.testing.assert_array_equal(found.features, np.broadcast_to(found.features[:, :1, :1, :1], (6, 3, 64, 64)))
    assert found.features[:, 0, 0, 0].tolist() == [0, 40, 80, 120, 160, 200]
    assert found.labels.tolist() == [mark > 0 for mark in SMILING]
    assert found.attributes["part"].tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_array_equal(found.attributes["male"], table(6).Male == 1)


DAMAGE = {
    "no JPEG": (small(40, "png"), "celeba64_30000.tar.gz: 162770.jpg is truncated, or no JPEG"),
    "no image": (b"<html>", "celeba64_30000.tar.gz: 162770.jpg is truncated, or no JPEG"),
    "cut": (jpeg((64, 64))[:-300], "celeba64_30000.tar.gz: 162770.jpg is truncated, or no JPEG"),
    "another size": (small(40, size=(64, 63)), "162770.jpg has (64, 63) pixels; expected (64, 64)"),
    "another picture": (small(41), "celeba64_30000.tar.gz decodes to pixels with the sha256 "),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_photograph_is_named_and_leaves_no_result(tmp_path, sample, case):
    content, wrong = DAMAGE[case]
    with pytest.raises(InputError, match=r"^dataset\.celeba: cannot be read \(") as caught:
        normalise(*given(tmp_path, sample | {"dataset/162770.jpg": content}))
    assert wrong in str(caught.value)
    assert list(tmp_path.glob("n/*")) == []


@pytest.mark.parametrize("name", ["202600.jpg", "000000.jpg", "face.jpg"])
def test_a_number_outside_the_official_partition_is_named(tmp_path, sample, name):
    with pytest.raises(InputError, match=rf"celeba64_30000.tar.gz has {name}; the official partition goes from 000001"):
        normalise(*given(tmp_path / "archive", sample | {f"dataset/{name}": small(0)}))
    if name == "202600.jpg":
        with pytest.raises(InputError, match=r"celeba.csv has 202600.jpg; the official partition goes from 000001"):
            normalise(*given(tmp_path / "table", sample, (*NUMBERS[:-1], 202_600)))
    assert list(tmp_path.rglob("n/*")) == []


def test_a_photograph_without_attributes_and_a_cut_archive_are_named(tmp_path, sample):
    with pytest.raises(InputError, match=r"celeba.csv does not have 202599.jpg, celeba64_30000.tar.gz does"):
        normalise(*given(tmp_path / "table", sample, NUMBERS[:-1]))
    with pytest.raises(InputError, match=r"cannot be read .*; expected celeba64_30000.tar.gz, celeba.csv of the"):
        normalise(*given(tmp_path / "cut", sample, cut=60))
    assert list(tmp_path.rglob("n/*")) == []


@pytest.mark.mirror
def test_the_parts_are_those_of_the_official_list():
    with gzip.open(Path(MIRROR, "celeba/list_eval_partition.txt.gz"), "rt") as file:
        names, parts = zip(*(line.split() for line in file), strict=True)
    np.testing.assert_array_equal(celeba._parts_of(list(names), "list"), np.array(parts, int))


@pytest.mark.mirror
def test_the_sample_has_the_official_partitions_shares(tmp_path):
    normalise("celeba", tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    found, meta = read(tmp_path / "n", "celeba")
    assert (meta["provenance"], meta["version"], meta["rows"]) == ("sample", "photographs", 30_000)
    assert np.bincount(found.attributes["part"]).tolist() == [24_152, 2_945, 2_903]
