"""``structopt data``: what data sets there are, and how to get them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.datasets.catalogue import CATALOGUE
from structopt.datasets.download import fetch
from structopt.datasets.home import data_home
from structopt.datasets.sentences import make_sentences
from structopt.errors import InvalidInputError
from structopt.files import write_atomically
from structopt.lab.harness import arguments
from structopt.lab.harness.runner import Step
from structopt.lab.harness.terminal import watching


@dataclass
class List(arguments.Command):
    """``structopt data list``."""

    def execute(self, command: str) -> int:
        """Name every data set, its terms, and whether it is here."""
        home = data_home()
        print(f"Data sets are looked for in {home}\n")
        for name, entry in CATALOGUE.items():
            missing = entry.missing(home)
            state = "present" if not missing else "absent"
            if 0 < len(missing) < len(entry.files):
                state = f"in part; missing: {', '.join(missing)}"
            print(f"{name}: {entry.what}")
            print(f"  {state}")
            print(f"  terms: {entry.licence}")
            print(f"  folder: {home / entry.folder}")
            print(f"  from: {f'structopt data fetch {name}' if entry.sources else entry.page}\n")
        return 0


@dataclass
class Fetch(arguments.Command):
    """``structopt data fetch``."""

    name: str = arguments.argument("", "a name of `structopt data list`", flag="NAME")
    no_checksum: bool = arguments.argument(
        False, "take what comes and say its SHA-256 sum", one_of="sums"
    )
    sha256: Sequence[str] | None = arguments.argument(
        None, "the sums expected of the downloads", one_of="sums", nargs="+", metavar="FILE=SUM"
    )

    def execute(self, command: str) -> int:
        """Download, check, and say the terms."""
        known: Any = None if self.no_checksum else "recorded"
        if self.sha256 is not None:
            if not all(
                file and total for file, _, total in (s.partition("=") for s in self.sha256)
            ):
                raise InvalidInputError(f"--sha256 takes FILE=SUM, not {' '.join(self.sha256)}.")
            known = dict(pair.split("=", 1) for pair in self.sha256)
        with watching(self.name) as watch:
            done = fetch(self.name, known_hash=known, report=lambda text: watch(Step(text)))
        print(f"terms of {self.name}: {CATALOGUE[self.name].licence}")
        for one in done:
            for path in one.paths:
                print(f"{'already there' if one.was_there else 'written'}: {path}")
            if one.sha256 is not None and not one.was_there:
                print(f"  SHA-256 of {one.url}: {one.sha256}")
        return 0


@dataclass
class Sample(arguments.Command):
    """``structopt data sample``."""

    out: str = arguments.argument("", "file to write to", flag="FILE")
    sentences: int = arguments.argument(200, "how many", last=True)
    seed: int = arguments.argument(0, "draws them", last=True)

    def execute(self, command: str) -> int:
        """Write columns word, part of speech, phrase tag."""
        found = make_sentences(self.sentences, seed=self.seed)
        lines = ["\n".join(" ".join(row) for row in sentence.rows) for sentence in found]
        write_atomically(self.out, ("\n\n".join(lines) + "\n").encode())
        return 0
