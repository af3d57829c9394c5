"""`python -m cutlayer.forecast [key=value ...] [target ...]`: what will run, and how long it will take.

Keys are those of params.yaml at its top level, such as scale; targets those of Snakemake, all by default. The data must
be there (`snakemake data`).
"""

from __future__ import annotations

import sys

from cutlayer.core.errors import InputError

from .forecast import forecast

if __name__ == "__main__":
    try:
        print(forecast(sys.argv[1:]).text)
    except InputError as error:
        sys.exit(f"error: {error}")
