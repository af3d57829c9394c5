"""From original files to normalised data: where files come from, one file a dataset, stand-ins for what is absent."""
