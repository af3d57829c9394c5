"""The job's side of `warm`: give its script to the server, wait for its end.

Every job does, so it imports little: not `json` and `socket`, which import regular expressions and enumerations.
`_socket` is what `socket` is made of.
"""

from __future__ import annotations

import _socket
import os
import struct
import sys

ADDRESS = "CUTLAYER_WARM"  # the server's socket, for jobs of the same Python


def up() -> None:
    """Let the server run this script and exit with its status; return if there is no server, or in its child."""
    folder, _, prefix = os.environ.get(ADDRESS, "").partition(os.pathsep)
    if not folder or prefix != sys.prefix:
        return
    connection = _socket.socket(_socket.AF_UNIX)
    try:
        connection.connect(f"{folder}/socket")
    except OSError:
        return connection.close()
    request = {"argv": sys.argv, "path": sys.path, "folder": os.getcwd(), "environment": dict(os.environ)}
    content = ascii(request).encode()  # which `ast.literal_eval` reads
    streams = _socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2)
    connection.sendmsg([len(content).to_bytes(8, "big")], [streams])
    connection.sendall(content)
    status = connection.recv(1)
    if not status:
        os.write(2, b"error: the process that runs this workflow's jobs is gone\n")
    os._exit(status[0] if status else 1)
