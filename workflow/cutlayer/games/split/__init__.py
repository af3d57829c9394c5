"""Threat model of split learning: one party holds features, the other labels, and gradients at the cut leak labels.

Who holds what: the feature party has the features and the bottom model, the label party the labels and the top model.

Who sees what: each batch the feature party sends embeddings and gets back the gradient of every example's loss. It
knows its own model and features; of a few examples it may know the labels.

What the attacks infer: the labels of the examples in a batch, or of rows that it holds.

What protects them: the label party, by its soft labels, by the gradients that it releases, and by how it turns outputs
into class probabilities (`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
