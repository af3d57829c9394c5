"""Base classes that all threat models share: protocol, defense, attack, model; it depends on none of them."""
