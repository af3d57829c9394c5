"""What a run says of the machine that it was made on."""

from __future__ import annotations

from pathlib import Path

from cutlayer.core.machine import gpus


def test_gpus_are_named_as_the_driver_lists_them(tmp_path: Path) -> None:
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "information").write_text("Model: \t\t NVIDIA H200\nIRQ:   \t 1\n")
    assert gpus(tmp_path) == ["NVIDIA H200", "NVIDIA H200"]
    assert gpus(tmp_path / "none") == []
