"""Shared parts of attribute inference: data with a sensitive attribute, attribute decoders, leakage metrics."""
