"""Hand a job's script to the warm server at Python's start, before Snakemake's preamble imports Snakemake.

Python imports a module of this name whenever it starts; `environment.prepare` puts this folder on the path of jobs. It
hides a sitecustomize of the environment from them, if there is one. Without a server the script runs as it is.
"""

import os
import sys

if "CUTLAYER_WARM" in os.environ and f"{os.sep}.snakemake{os.sep}scripts{os.sep}" in "".join(sys.argv[:1]):
    from launch.warm_client import up

    up()
