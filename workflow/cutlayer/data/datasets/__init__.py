"""Datasets: one file each; `base.py` is their contract."""
