"""From cells to verdicts: selection of cells, completeness of evidence, statistics, verdicts, the ledger's files."""
