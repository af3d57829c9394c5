"""`python -m release`: a sentence for each thing that is wrong; if none is, a site and a wheel that works, in dist/."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from cutlayer.core.errors import InputError

from . import checks, site_zip, wheel

DIST = Path("dist")


def main(root: Path) -> None:
    """Check, build, and say what was built."""
    problems = checks.problems(root)
    if problems:
        sys.exit("\n".join(f"error: {problem}" for problem in problems))
    version, dist = checks.version(root), root / DIST
    shutil.rmtree(dist, ignore_errors=True)  # a wheel of another version there would be installed, too
    dist.mkdir()
    made = [site_zip.write(root / checks.SITE, dist / f"cutlayer-site-{version}.zip"), wheel.build(root, dist)]
    wheel.check(made[-1], version)
    for file in made:
        print(f"{file.relative_to(root)}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    try:
        main(Path.cwd())
    except InputError as error:
        sys.exit(f"error: {error}")
