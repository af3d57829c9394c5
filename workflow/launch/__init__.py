"""How jobs start and end: warm processes, locks, logs, notes of what failed. It uses the library, never the reverse."""
