"""What everything else stands on: errors, seeds, files that appear whole, transcripts, progress, failures."""
