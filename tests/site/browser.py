"""A real headless browser: Chromium, spoken to through a pipe (the DevTools protocol), without a network."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.packages import added

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-dejavu-core")
INSTALL = "CUTLAYER_INSTALL_BROWSER"
LONG = 300  # seconds that nothing takes, however busy the machine
COMMAND = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--allow-file-access-from-files",
]  # fmt: skip


class Unavailable(Exception):
    """Why there is no browser here."""


@contextlib.contextmanager
def installed() -> Iterator[str]:
    """The path of a browser; one that had to be installed is removed again.

    Raises:
        Unavailable: why there is none.

    """
    if found := next(filter(None, map(shutil.which, NAMES)), None):
        yield found
        return
    if os.environ.get(INSTALL) != "1":
        raise Unavailable(f"Chromium is not installed, and {INSTALL}=1, which has the test do so, is not set")
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Unavailable("Chromium is not installed, and installing it takes root and apt-get")
    with added(*PACKAGES) as done:
        if not done:
            raise Unavailable("Chromium is not installed and apt-get cannot install it")
        yield str(shutil.which(NAMES[0]))


@contextlib.contextmanager
def started(path: str) -> Iterator[Browser]:
    """A browser with one page, gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        to_read, to_write = os.pipe(), os.pipe()  # what the browser reads, as 3, and writes, as 4
        shell = f'exec "$@" 3<&{to_read[0]} 4>&{to_write[1]}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "-", path, *COMMAND, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_read[0], to_write[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read[0])
        os.close(to_write[1])
        try:
            yield Browser(to_write[0], to_read[1])
        finally:
            process.kill()
            process.wait()
            os.close(to_write[0])
            os.close(to_read[1])


class Browser:
    """One page of a browser."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes, self._rest, self._session = reads, writes, b"", ""
        self._numbers = itertools.count(1)
        self.events: list[tuple[str, dict[str, Any]]] = []
        pages = self.ask("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol; events that come before it are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> Any:
        """The next message; an event is kept, too."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._reads], [], [], LONG)
            more = os.read(self._reads, 1 << 20) if ready else b""
            if not more:
                raise TimeoutError("the browser says nothing any more")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message

    def open(self, address: str) -> None:
        """Go to a page and wait until it is loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=address)
        self._loaded()

    def follow(self, expression: str) -> None:
        """Do what leads to another page, and wait until that is loaded."""
        self.events.clear()
        self.evaluate(expression)
        self._loaded()

    def _loaded(self) -> None:
        end = time.monotonic() + LONG
        while not any(name == "Page.loadEventFired" for name, _ in self.events):
            self._next()
            if time.monotonic() > end:
                raise TimeoutError("the page does not load")

    def evaluate(self, expression: str) -> Any:
        """What JavaScript gives."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", done)["description"])
        return done["result"].get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Show the page on a screen of so many pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def prefer(self, scheme: str) -> None:
        """What the reader's system asks for: light or dark."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file: Path, whole: bool = True) -> None:
        """Write what is seen as png."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(data))

    @property
    def wrong(self) -> list[str]:
        """Errors on the console, failed requests, and requests that leave the machine, since the page was opened."""
        found = []
        for name, told in self.events:
            if name == "Runtime.exceptionThrown":
                found.append(told["exceptionDetails"].get("exception", {}).get("description", str(told)))
            if name == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
                found.append(str(told["args"]))
            if name == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                found.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
            if name == "Network.requestWillBeSent" and not told["request"]["url"].startswith(
                ("file:", "data:", "blob:")
            ):
                found.append(f"request to {told['request']['url']}")
            if name == "Network.loadingFailed":
                found.append(f"not loaded: {told['errorText']}")
        return found
