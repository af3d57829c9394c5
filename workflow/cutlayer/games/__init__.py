"""Four games: who holds what, what crosses between the parties, what protects it, and who attacks.

`vertical`: prediction scores leak features. `split`: gradients leak labels. `split_server`: features leak attributes.
`federated`: representations leak attributes. Each has its protocol, which reads top to bottom, the contracts of its
defenses, attacks and models, and these, one file each. `base` is what all contracts share, `attributes` what the two
games about attributes share.
"""
