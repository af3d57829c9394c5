"""Start and end of jobs: warm processes, locks, logs, notes of failures. It uses the library, never the reverse."""
