"""Threat model of federated representation learning: representations of a shared extractor leak sensitive attributes.

Who holds what: each device has rows and networks of its own that never leave it; the server has the extractor that it
averages from the devices' uploads.

Who sees what: the server, or whoever has the extractor, sees the representations of rows whose attribute it knows and
of those that it attacks.

What the attacks infer: a sensitive attribute of the rows behind some representations.

What protects it: the devices, by the networks that they train the extractor with or against, and by what they upload
(`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
