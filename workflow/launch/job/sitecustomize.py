"""Hand a job's script to the warm server at Python's start, before Snakemake's preamble imports Snakemake.

Python imports a module of this name whenever it starts; `environment.prepare` puts this folder on the path of jobs. The
environment's own sitecustomize, which it hides, runs first. Without a server the script runs as it is.
"""

import os
import sys
from _frozen_importlib_external import PathFinder

# Of `importlib.machinery`, whose import would take every job a millisecond.
_hidden = PathFinder.find_spec(__name__, [path for path in sys.path if path != os.path.dirname(__file__)])
if _hidden and _hidden.loader:
    __file__ = _hidden.origin
    _hidden.loader.exec_module(sys.modules[__name__])

if "CUTLAYER_WARM" in os.environ and f"{os.sep}.snakemake{os.sep}scripts{os.sep}" in "".join(sys.argv[:1]):
    from launch.warm_client import up

    up()
