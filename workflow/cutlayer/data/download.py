"""Download a file as its server sends it, with a progress line and a limit on its size."""

from __future__ import annotations

import sys
from pathlib import Path

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from cutlayer.core.errors import InputError

from .sources import Missing

TIMEOUT = (10, 60)  # seconds to connect, and between two chunks
CHUNK = 1 << 20


def download(url: str, target: Path, limit: int, name: str) -> None:
    """Stream `url` to `target`; a body that is truncated or larger than `limit` bytes is an InputError.

    `name` is what the error calls the file. An address that gives no such file is `Missing`.
    """
    try:
        # "identity": a server must not compress, or unpack, what the checksum is of.
        headers = {"Accept-Encoding": "identity"}
        with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as answer:
            answer.raise_for_status()
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                raise Missing(f"{url} is a web page; get the file there by hand and put it into raw")
            _save(answer, target, limit, name)
    except requests.HTTPError as error:
        raise Missing(f"{url} answers {error.response.status_code}") from error
    except requests.RequestException as error:
        # The name only: the text of such an error holds memory addresses and differs from run to run.
        raise Missing(f"{url} cannot be reached ({type(error).__name__})") from error


def _save(answer: requests.Response, target: Path, limit: int, name: str) -> None:
    length = int(answer.headers.get("Content-Length", 0))
    progress = tqdm(total=length or None, unit="B", unit_scale=True, delay=5, desc=name, file=sys.stderr)
    with target.open("wb") as out, progress:
        try:
            for chunk in answer.raw.stream(CHUNK, decode_content=False):
                progress.update(out.write(chunk))
                if out.tell() > limit:
                    raise InputError(f"file.{name}", f"has more than {limit:,} bytes", "that is its declared size")
            broken = out.tell() < length
        except HTTPError:
            broken = True
        if broken:
            raise InputError(f"file.{name}", f"is truncated: {out.tell():,} of {length:,} bytes came", "try again")
