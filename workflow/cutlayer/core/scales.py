"""What a run is too small for: said as such, and not as if a method did not apply."""

PREFIX = "not at this scale: "
