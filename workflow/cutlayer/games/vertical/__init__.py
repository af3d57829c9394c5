"""Threat model of vertical federated learning: prediction scores leak the passive party's features.

Who holds what: the active party has the labels and some of the features, the passive party has the other features. A
linear model has been trained on all of them.

Who sees what: the active party sees the confidence scores of some predictions, its own features and weights and the
published weights of the passive party. The passive party sees nothing of it.

What the attacks infer: the passive party's features, from the scores.

What protects them: the passive party, by the weights that it publishes, and the party that reveals the scores, by the
scores (`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
