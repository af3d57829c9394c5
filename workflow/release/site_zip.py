"""The site as a zip that is the same, byte by byte, whenever and wherever the same site is packed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from cutlayer.core.files import replacing

TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say
LEVEL = 9


def write(site: Path, target: Path) -> Path:
    """Pack a folder; in the zip it has the zip's name, so that unpacking makes one folder."""
    files = sorted(file.relative_to(site).as_posix() for file in site.rglob("[!.]*") if file.is_file())
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in files:
            entry = zipfile.ZipInfo(f"{target.stem}/{name}", TIME)
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3  # Unix, also where it is packed on another system
            archive.writestr(entry, (site / name).read_bytes(), zipfile.ZIP_DEFLATED, LEVEL)
    return target
