"""The checked configuration: params.yaml and the papers, and the methods found on disk, read as source."""
