"""Threat model of split learning with an untrusted server: features released by clients leak sensitive attributes.

Who holds what: the clients have the rows and the encoder, an untrusted server has the labels and a classifier.

Who sees what: for each batch the clients send noisy features and get back their gradient. The server, or an
eavesdropper, has auxiliary rows whose attribute it knows; after training it may query the encoder, and it may poison
the training with rows of its own. An adversary who is also one of the clients has the encoder of every epoch.

What the attacks infer: a sensitive attribute of the clients' rows, in training or after it.

What protects it: the clients, by the features that they release, the penalty on their loss and the encoder's updates
(`defense.py`).

Read `protocol.py`, then `defense.py` and one of `defenses/`, then `attack.py` and one of `attacks/`.
"""
