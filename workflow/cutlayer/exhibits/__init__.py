"""Ways to draw an exhibit, one file each; `base.py` is their contract."""
