"""What the contracts of all games share; it knows none of the games."""
