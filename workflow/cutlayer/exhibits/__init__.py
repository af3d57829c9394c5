"""Kinds of plots and tables that an exhibit can use, one file each; `base.py` is their contract."""
