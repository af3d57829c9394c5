"""Hand a job's script to the warm server at Python's start, before Snakemake's preamble.

The preamble imports Snakemake, a tenth of a second of every job; what it unpacks is used by the server's child
only.
A line in the environment's site-packages imports this module, see `make setup`; without it, scripts ask for themselves.
"""

import os
import sys

if sys.argv and f"{os.sep}.snakemake{os.sep}scripts{os.sep}" in sys.argv[0]:
    from .warm_client import up

    up()
