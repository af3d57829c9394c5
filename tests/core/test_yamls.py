"""YAML files and texts of the user: keys that are there twice, and numbers that YAML takes for text."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.plan import families, plugins
from launch import trying


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb: 2\na: 3\n", "has the key 'a' twice, in lines 1 and 3; expected each key once"),
        ("top:\n  a: 1\n  'a': 1\n", "has the key 'a' twice, in lines 2 and 3"),
        ("{a: [1], a: [2]}", "has the key 'a' twice, in lines 1 and 1"),
        ("base: &base { a: 1, a: 2 }\nown: { <<: *base, a: 1 }\n", "has the key 'a' twice, in lines 1 and 1"),
        ("base: &base { a: 1 }\nown:\n  <<: *base\n  a: 1\n  a: 2\n", "has the key 'a' twice, in lines 4 and 5"),
        ("- 1\n- { 1: a, 1: b }\n", "has the key '1' twice, in lines 2 and 2"),
        ("a: [", "is no YAML; .* line "),
        ("a: !!python/name:os.system", "is no YAML; "),
    ],
)
def test_what_would_be_dropped_or_is_no_yaml_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^mine.yaml: {sentence}"):
        yamls.load(text, "mine.yaml")


def test_what_a_merge_brings_may_be_replaced_however_often() -> None:
    text = """
base: &base { a: 1, b: 2 }
first: &first { <<: *base, a: 3 }
second: &second { <<: *first, a: 4 }
third: { <<: [*second, *first], b: 5 }
1: one
"1": text
"""
    assert yamls.load(text, "mine.yaml") == yaml.safe_load(text)
    assert yamls.load(text, "mine.yaml")["third"] == {"a": 4, "b": 5}


def test_every_file_is_read_like_that_with_a_mark_of_its_bytes_too(tmp_path: Path) -> None:
    (tmp_path / "paper.yaml").write_bytes(b"\xef\xbb\xbftitle: \xc3\xa9\n")
    assert yamls.read(tmp_path / "paper.yaml") == {"title": "\N{LATIN SMALL LETTER E WITH ACUTE}"}
    (tmp_path / "paper.yaml").write_text("title: A\nclaims: {}\ntitle: B\n")
    with pytest.raises(InputError, match=r"^paper: has the key 'title' twice, in lines 1 and 3"):
        families.read(tmp_path, "paper")
    with pytest.raises(InputError, match=r"^make try SETTINGS='{a: 1, a: 2}': has the key 'a' twice"):
        trying.configured({"defense": __file__, "settings": "{a: 1, a: 2}"})


@pytest.mark.parametrize(
    ("kind", "parameter", "value", "sentence"),
    [
        ("defense.dp", "epsilon", "1e-3", "expected float: write 0.001"),
        ("defense.dp", "epsilon", "1e-7", "expected float: write 1.0e-07"),
        ("defense.dp", "epsilon", "1.5e3", "expected float: write 1500.0"),
        ("defense.dp", "epsilon", "little", "expected float$"),
        ("defense.dp", "epsilon", float("inf"), "expected a finite number$"),
        ("defense.dp", "epsilon", float("nan"), "expected a finite number$"),
        ("attack.gia", "steps", "1e3", "expected int: write 1000"),
        ("attack.gia", "steps", "1.5", "expected int$"),
    ],
)
def test_a_number_that_yaml_takes_for_text_comes_with_what_to_write(
    kind: str, parameter: str, value: object, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        plugins.check_parameters(*kind.split("."), {parameter: value})
    written = sentence.partition("write ")[2]
    assert not written or yaml.safe_load(written) == float(str(value))
