"""Theorems of the papers as functions, one file for each paper; noise calibrated to a guarantee (`accounting`)."""
