"""What the games about attributes share: rows with a sensitive attribute, the decoder that guesses it, its leak."""
