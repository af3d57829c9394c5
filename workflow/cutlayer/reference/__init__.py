"""The reference run: `publish.py` puts a finished run into reference/, `compare.py` compares another one."""
