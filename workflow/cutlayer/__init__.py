"""cutlayer: attacks, defenses and theory of privacy in split and vertical federated learning."""
