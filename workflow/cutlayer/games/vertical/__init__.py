"""Threat model: two parties hold different features of the same people, and prediction scores leak features.

Who holds what: the active party has the labels and some of the features, the passive party has the other features. A
linear model has been trained on all of them.

Who sees what: the active party sees the confidence scores of some predictions, its own features and weights and what
the passive party publishes of its weights. The passive party sees nothing of it.

What is guessed: the passive party's features, from the scores.

What protects them: the passive party, by the weights it publishes, and whoever reveals the scores, by what they show
(`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
