"""The prefix of reasons for a missing result that a larger scale has, as opposed to a method that does not apply."""

PREFIX = "not at this scale: "
