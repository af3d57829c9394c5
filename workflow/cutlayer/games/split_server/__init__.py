"""Threat model: clients hold data and an encoder, a server the labels, and the features that are sent leak attributes.

Who holds what: the clients have the rows and the encoder, an untrusted server has the labels and a classifier.

Who sees what: each batch the clients send features with noise and get back their gradient. The server, or whoever
listens, has auxiliary rows whose attribute it knows; after training it may query the encoder, and its own rows may be
among those that train. Who is also one of the clients has the encoder of every epoch.

What is guessed: a sensitive attribute of the clients' rows, in training or after it.

What protects it: the clients, by what they send, what they add to the loss and how the encoder steps (`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
