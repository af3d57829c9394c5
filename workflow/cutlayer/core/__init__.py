"""Infrastructure of the library: errors, seeds, atomically written files, transcripts, progress, failures."""
