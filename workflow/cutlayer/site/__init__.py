"""The site: all results as HTML pages that a browser opens from disk; `build.py` writes them."""
