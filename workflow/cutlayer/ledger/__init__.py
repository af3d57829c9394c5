"""From cells to verdicts: what is selected, what is evidence, whether a claim holds, and the pages that say so."""
