"""Stand-ins: generated data with the schema, sizes and class rates of a dataset that is not at hand.

One generator per kind of data, found by its file name; `Dataset.kind` names it.
"""
