"""Downloads from a server of our own: whole and expected files only, and nothing left behind."""

import gzip
import hashlib
import io
import os
import pickle
import sys
import threading
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from structopt import datasets
from structopt.cli import commands as cli
from structopt.datasets import catalogue, download
from structopt.datasets.catalogue import CATALOGUE, Entry, Source
from structopt.errors import (
    ChecksumError,
    DownloadError,
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)

DIGITS = (",".join(["16"] * 64) + ",7\n").encode()


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, text in members.items():
            out.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return file.getvalue()


ZIP = archive(c__train_dot_txt="a DT O\n", c__test_dot_txt="b NN O\n", evil="x")
FILES = {
    "/optdigits.tra": DIGITS,
    "/c.zip": ZIP,
    "/other.zip": archive(c__train_dot_txt="a DT O\n"),
    "/broken.zip": ZIP[:40],
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/cut/optdigits.tra":  # promises more than it sends
            self.send_response(200)
            self.send_header("Content-Length", str(len(DIGITS) + 100))
            self.end_headers()
            self.wfile.write(DIGITS)
        elif self.path in FILES:
            self.send_response(200)
            self.send_header("Content-Length", str(len(FILES[self.path])))
            self.end_headers()
            self.wfile.write(FILES[self.path])
        else:
            self.send_error(404)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def catalogued(server, tmp_path, monkeypatch):
    """Return a function that puts a set with one download of our server into the catalogue."""
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.asked.clear()

    def add(path, files=None, **sums):
        files = files or {"": "optdigits.tra"}
        named = {name.replace("_dot_", "."): sha256 for name, sha256 in sums.items()}
        source = Source(f"http://127.0.0.1:{server.server_port}{path}", files, named)
        groups = tuple((name + ".gz", name) for name in files.values())
        entry = Entry("digits", "free", "http://x", "optdigits", groups, (source,))
        monkeypatch.setitem(CATALOGUE, "optdigits", entry)
        return source

    return add


def everything(folder):
    """All files, and folders without any."""
    found = [p for p in folder.rglob("*") if p.is_file() or not any(p.iterdir())]
    return sorted(str(p.relative_to(folder)) for p in found)


SUM = hashlib.sha256(DIGITS).hexdigest()


@pytest.mark.parametrize("known", ["recorded", {"optdigits.tra": "SHA256:" + SUM.upper()}, None])
def test_a_fetched_file_loads_and_is_not_fetched_again(catalogued, server, tmp_path, known):
    catalogued("/optdigits.tra", **({"optdigits_dot_tra": SUM} if known == "recorded" else {}))
    said = []
    (first,) = download.fetch("optdigits", known_hash=known, report=said.append)
    assert (first.sha256, first.was_there) == (SUM, False)
    assert said == [f"fetching {first.url}"]
    assert first.paths == (tmp_path / "optdigits" / "optdigits.tra",)
    assert datasets.load_optdigits()[1].tolist() == [7]
    (again,) = download.fetch("optdigits", known_hash=known)
    assert (again.sha256, again.was_there, again.paths) == (SUM, True, first.paths)
    assert server.asked == ["/optdigits.tra"]
    assert everything(tmp_path) == ["optdigits/optdigits.tra"]


def test_without_a_checksum_nothing_is_asked_of_the_server(catalogued, server, tmp_path):
    source = catalogued("/optdigits.tra")
    with pytest.raises(InvalidInputError, match="no checksum recorded for http") as caught:
        download.fetch("optdigits")
    for part in (source.url, str(tmp_path / "optdigits"), "--no-checksum"):
        assert part in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"no sum for optdigits.tra, only for \['other'\]"):
        download.fetch("optdigits", known_hash={"other": SUM})
    assert (server.asked, everything(tmp_path)) == ([], [])


def test_a_wrong_checksum_leaves_nothing(catalogued, tmp_path):
    catalogued("/optdigits.tra", optdigits_dot_tra="0" * 64)
    with pytest.raises(ChecksumError, match="not kept") as caught:
        download.fetch("optdigits")
    assert (caught.value.expected, caught.value.found) == ("0" * 64, SUM)
    assert pickle.loads(pickle.dumps(caught.value)).found == SUM
    assert everything(tmp_path) == []


def test_a_file_that_is_there_is_checked_and_never_overwritten(catalogued, server, tmp_path):
    catalogued("/optdigits.tra", optdigits_dot_tra=SUM)
    folder = tmp_path / "optdigits"
    folder.mkdir()
    (folder / "optdigits.tra").write_text("mine")
    with pytest.raises(ChecksumError, match="delete it"):
        download.fetch("optdigits")
    assert (folder / "optdigits.tra").read_text() == "mine"
    (folder / "optdigits.tra").rename(folder / "optdigits.tra.gz")  # which the loader takes as well
    with pytest.raises(ChecksumError, match="delete it"):
        download.fetch("optdigits")
    (folder / "optdigits.tra.gz").write_bytes(gzip.compress(DIGITS))
    (one,) = download.fetch("optdigits")
    assert (one.was_there, one.sha256) == (True, None)
    catalogued("/optdigits.tra")  # no sum is needed where nothing is to be fetched
    assert download.fetch("optdigits")[0].was_there
    assert server.asked == []


@pytest.mark.parametrize(("path", "reason"), [("/cut/optdigits.tra", "Incomplete"), ("/no", "404")])
def test_failed_downloads_leave_nothing(catalogued, tmp_path, path, reason):
    source = catalogued(path)
    with pytest.raises(DownloadError, match=reason) as caught:
        download.fetch("optdigits", known_hash=None)
    assert source.url in str(caught.value)
    assert everything(tmp_path) == []


def test_an_interrupt_leaves_nothing(catalogued, tmp_path, monkeypatch):
    import pooch

    def half(self, url, output_file, *args):
        with open(output_file, "wb") as file:
            file.write(DIGITS[:10])
        raise KeyboardInterrupt

    catalogued("/optdigits.tra")
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", half)
    with pytest.raises(KeyboardInterrupt):
        download.fetch("optdigits", known_hash=None)
    assert everything(tmp_path) == []


def test_a_server_that_is_not_there(catalogued, tmp_path, monkeypatch):
    catalogued("/optdigits.tra")
    source = Source("http://127.0.0.1:9/optdigits.tra", {"": "optdigits.tra"}, {})
    entry = CATALOGUE["optdigits"]
    monkeypatch.setitem(CATALOGUE, "optdigits", Entry(
        entry.what, entry.licence, entry.page, entry.folder, entry.files, (source,)
    ))  # fmt: skip
    with pytest.raises(DownloadError, match="could not be downloaded"):
        download.fetch("optdigits", known_hash=None)


MEMBERS = {"c/train.txt": "train.txt", "c/test.txt": "test.txt"}


def test_members_of_an_archive_are_put_in_place(catalogued, tmp_path):
    catalogued("/c.zip", MEMBERS)
    (one,) = download.fetch("optdigits", known_hash=None)
    assert one.sha256 == hashlib.sha256(ZIP).hexdigest()
    assert everything(tmp_path) == ["optdigits/test.txt", "optdigits/train.txt"]
    assert one.paths[1].read_text() == "b NN O\n"
    assert download.fetch("optdigits", known_hash=None)[0].was_there
    one.paths[0].write_text("mine")
    one.paths[1].unlink()
    (again,) = download.fetch("optdigits", known_hash=None)
    assert again.paths == one.paths
    assert [path.read_text() for path in again.paths] == ["mine", "b NN O\n"]


def test_members_of_an_archive_are_checked(catalogued, tmp_path):
    sums = {f"{p}_dot_txt": hashlib.sha256(t).hexdigest()
            for p, t in {"train": b"a DT O\n", "test": b"b NN O\n"}.items()}  # fmt: skip
    catalogued("/c.zip", MEMBERS, train_dot_txt=sums["train_dot_txt"])
    with pytest.raises(InvalidInputError, match="no checksum recorded"):
        download.fetch("optdigits")
    catalogued("/c.zip", MEMBERS, **(sums | {"test_dot_txt": "0" * 64}))
    with pytest.raises(ChecksumError, match=r"test.txt of http.*not kept"):
        download.fetch("optdigits")
    assert everything(tmp_path) == []
    catalogued("/c.zip", MEMBERS, **sums)
    assert not download.fetch("optdigits")[0].was_there
    assert everything(tmp_path) == ["optdigits/test.txt", "optdigits/train.txt"]
    (tmp_path / "optdigits" / "train.txt").write_text("mine")
    with pytest.raises(ChecksumError, match="which is there"):
        download.fetch("optdigits")


def test_a_folder_elsewhere_is_filled_and_readable_for_others(catalogued, tmp_path):
    elsewhere = tmp_path / "disk" / "digits"
    elsewhere.mkdir(parents=True)
    (tmp_path / "optdigits").symlink_to(elsewhere)
    catalogued("/optdigits.tra")
    download.fetch("optdigits", known_hash=None)
    assert [path.name for path in elsewhere.parent.iterdir()] == ["digits"]
    written = (elsewhere / "optdigits.tra").stat().st_mode
    assert written & 0o777 == 0o666 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    ("path", "reason"), [("/other.zip", "has changed.*test.txt"), ("/broken.zip", "no whole ZIP")]
)
def test_bad_archives_leave_nothing(catalogued, tmp_path, path, reason):
    catalogued(path, MEMBERS)
    with pytest.raises(FileFormatError, match=reason):
        download.fetch("optdigits", known_hash=None)
    assert everything(tmp_path) == []


def test_without_pooch_the_extra_is_named(catalogued, tmp_path, monkeypatch):
    catalogued("/optdigits.tra")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependencyError, match=r"structopt-margin\[data\]"):
        download.fetch("optdigits", known_hash=None)
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("nothing", {}, "choose one of letters, optdigits"),
        ("horses", {}, "There is no download for 'horses'"),
        ("optdigits", {"known_hash": "abc"}, "known_hash is 'abc'"),
    ],
)
def test_what_cannot_be_fetched_is_refused(name, options, reason):
    with pytest.raises(InvalidInputError, match=reason):
        download.fetch(name, **options)


# ---------------------------------------------------------------------- the catalogue
def test_the_catalogue_is_sound():
    folders = [entry.folder for entry in CATALOGUE.values()]
    assert len(set(folders)) == len(folders)
    for entry in CATALOGUE.values():
        assert entry.what
        assert entry.licence
        assert entry.page.startswith("https://")
        wanted = {pattern for group in entry.files for pattern in group}
        for source in entry.sources:
            assert source.url.startswith("https://")
            assert set(source.files.values()) <= wanted
    targets = [name for e in CATALOGUE.values() for s in e.sources for name in s.files.values()]
    assert len(set(targets)) == len(targets)  # a sum goes by the name
    assert set(catalogue.SHA256) <= set(targets)
    assert all(len(bytes.fromhex(found)) == 32 for found in catalogue.SHA256.values())


def test_missing_data_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    for name, load in {
        "letters": datasets.load_letters,
        "optdigits": datasets.load_optdigits,
        "conll2000": datasets.load_conll2000,
        "conll2002": datasets.load_conll2002,
        "medpost": datasets.load_medpost,
        "partut": partial(datasets.load_partut, "dev"),
        "srl": datasets.load_srl,
    }.items():
        with pytest.raises(MissingDataError, match=f"structopt data fetch {name}`"):
            load()
    with pytest.raises(MissingDataError) as caught:
        datasets.load_smt_nbest()
    assert "structopt data fetch" not in str(caught.value)


# ---------------------------------------------------------------------- the command line
def test_list(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    (tmp_path / "conll2000_chunking").mkdir()
    (tmp_path / "conll2000_chunking" / "train.txt").touch()
    (tmp_path / "optdigits").mkdir()
    (tmp_path / "optdigits" / "optdigits.tra").touch()
    assert cli.main(["data", "list"]) == 0
    blocks = {b.split(":")[0]: b for b in capsys.readouterr().out.split("\n\n")[1:]}
    assert "\n  present\n" in blocks["optdigits"]
    assert "in part; missing: test.txt.gz" in blocks["conll2000"]
    assert "\n  absent\n" in blocks["horses"]
    assert "CC BY 4.0" in blocks["optdigits"]
    assert str(tmp_path / "optdigits") in blocks["optdigits"]
    assert "structopt data fetch optdigits" in blocks["optdigits"]
    assert set(CATALOGUE) <= set(blocks)


def test_fetch_command(catalogued, tmp_path, capsys):
    catalogued("/optdigits.tra")
    assert cli.main(["data", "fetch", "optdigits"]) == 2
    assert "no checksum recorded" in capsys.readouterr().err
    assert cli.main(["data", "fetch", "optdigits", "--sha256", "optdigits.tra"]) == 2
    assert "FILE=SUM" in capsys.readouterr().err
    assert cli.main(["data", "fetch", "optdigits", "--no-checksum"]) == 0
    printed = capsys.readouterr().out
    assert "terms of optdigits: free" in printed
    assert f"written: {tmp_path / 'optdigits' / 'optdigits.tra'}" in printed
    assert SUM in printed
    assert cli.main(["data", "fetch", "optdigits", "--sha256", f"optdigits.tra={SUM}"]) == 0
    assert "already there" in capsys.readouterr().out
