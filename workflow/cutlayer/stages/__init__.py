"""Body of each rule's jobs: runs, attacks, matching, times, measures of the theory, exhibits; one file per rule."""
