"""Metrics of attacks (leakage), of models (utility), and of trainings."""
