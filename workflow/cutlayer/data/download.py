"""Downloads of files with a progress line and with limits on size and slowness."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, ReadTimeoutError

from cutlayer.core.errors import InputError

from .sources import Missing

TIMEOUT = (10, 60)  # seconds to connect, and between two chunks
SLOWEST, PATIENCE = 1000, 60  # bytes a second on average, and seconds before a slower server is given up
CHUNK = 1 << 20
BUSY = (408, 425, 429)  # answers that, like all from 500 on, say nothing of the next try


def download(url: str, target: Path, limit: int, name: str) -> None:
    """Stream `url` to `target`; a body that is truncated or larger than `limit` bytes is an InputError.

    `name` is what the error calls the file. An address that gives no such file is `Missing`.
    """
    with _opened(url, TIMEOUT) as answer:
        _save(answer, url, target, limit, name)


def answering(urls: Iterable[str], seconds: float) -> set[str]:
    """URLs that serve their file now, within the time limit."""
    found: set[str] = set()

    def look(url: str) -> None:
        with contextlib.suppress(Missing), _opened(url, (seconds, seconds)):
            found.add(url)

    # Daemons, for a look-up of a name cannot be ended, and must not be waited for.
    threads = [threading.Thread(target=look, args=(url,), daemon=True) for url in urls]
    end = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    return set(found)


@contextlib.contextmanager
def _opened(url: str, timeout: tuple[float, float]) -> Iterator[requests.Response]:
    """Response of a server that sends a file."""
    try:
        # "identity": a server must not compress, or unpack, what the checksum is of.
        headers = {"Accept-Encoding": "identity"}
        with requests.get(url, stream=True, timeout=timeout, headers=headers) as answer:
            answer.raise_for_status()
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                raise Missing(f"{url} is a web page; get the file there by hand and put it into raw")
            yield answer
    except requests.HTTPError as error:
        status = error.response.status_code
        raise Missing(f"{url} answers {status}", url if status >= 500 or status in BUSY else "") from error
    except requests.RequestException as error:
        passing = isinstance(error, (requests.ConnectionError, requests.Timeout))
        # The name only: the text of such an error holds memory addresses and differs from run to run.
        raise Missing(f"{url} cannot be reached ({type(error).__name__})", url if passing else "") from error


def _save(answer: requests.Response, url: str, target: Path, limit: int, name: str) -> None:
    announced = answer.headers.get("Content-Length", "")
    length = int(announced) if announced.isdecimal() else 0
    progress = tqdm(total=length or None, unit="B", unit_scale=True, delay=5, desc=name, file=sys.stderr)
    with target.open("wb") as out, progress:
        begun = time.monotonic()
        try:
            while chunk := answer.raw.read1(CHUNK, decode_content=False):
                progress.update(out.write(chunk))
                if out.tell() > limit:
                    raise InputError(f"file.{name}", f"has more than {limit:,} bytes", "that is its declared size")
                if out.tell() < SLOWEST * (time.monotonic() - begun - PATIENCE):
                    raise Missing(f"{url} is too slow", url)
            broken = out.tell() < length
        except ReadTimeoutError as error:
            raise Missing(f"{url} stopped sending", url) from error
        except HTTPError:
            broken = True
        if broken:
            came = f"{out.tell():,} of {length:,} bytes" if length else f"only {out.tell():,} bytes"
            raise InputError(f"file.{name}", f"is truncated: {came} came", "try again")
