"""What a scale will take: jobs, hours and bytes, from short trials of the very jobs."""
