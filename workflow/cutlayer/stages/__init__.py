"""What the jobs of each rule do: runs, attacks, matching, times, measurements of the theory. One file a rule."""
