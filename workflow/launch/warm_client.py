"""The job's side of `warm`: give its script to the server, wait for its end. Imports little, for every job does."""

from __future__ import annotations

import json
import os
import socket
import sys

ADDRESS = "CUTLAYER_WARM"  # the server's socket, for jobs of the same Python


def up() -> None:
    """Have this script run by the server and end with its exit status; return if there is none, or in its child."""
    folder, _, prefix = os.environ.get(ADDRESS, "").partition(os.pathsep)
    if not folder or prefix != sys.prefix:
        return
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(f"{folder}/socket")
        except OSError:
            return
        request = {"argv": sys.argv, "path": sys.path, "folder": os.getcwd(), "environment": dict(os.environ)}
        content = json.dumps(request).encode()
        socket.send_fds(connection, [len(content).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(content)
        status = connection.recv(1)
    if not status:
        os.write(2, b"error: the process that runs this workflow's jobs is gone\n")
    os._exit(status[0] if status else 1)
