"""The site: what was found, as pages that a browser opens from disk; `build.py` writes them."""
