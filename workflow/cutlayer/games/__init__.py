"""Four threat models ("games"): a protocol between parties each, with its defenses, attacks and models.

`vertical`: prediction scores leak features. `split`: gradients leak labels. `split_server`: features leak attributes.
`federated`: representations leak attributes. Each has its protocol, which reads top to bottom, base classes of its
defenses, attacks and models, and these, one file each. `base` has what all share, `attributes` what the two games of
attribute inference share.
"""
