"""What params.yaml and the papers ask for, checked before anything runs; methods found on disk, read as source."""
