r"""What data sets the loaders read: terms, place in the data home, and where to download them.

>>> CATALOGUE["optdigits"].licence
'CC BY 4.0'
>>> [name for name, entry in CATALOGUE.items() if not entry.sources]
['hansards', 'lidar', 'horses', 'smt_nbest', 'swde']

Checksums are those of the files as they are put in place: of copies whose contents were counted and
agree with what their publications state. A home that serves anything else is refused; so are files
without a sum (letters, and treebanks on a branch that moves), unless
:func:`~structopt.datasets.download.fetch` is told otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora"
UD = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-ParTUT/master"
UP = "https://raw.githubusercontent.com/UniversalPropositions/UP-1.0/master/UP_English-EWT"
MEDPOST = (  # a mirror of the 2006 release, at a commit that does not move
    "https://raw.githubusercontent.com/kidaa/eptmk-cval/d038dda6126ac2920e81d26f9f93aaf813d4d340"
    "/corpora/medpost/tagged"
)
MEDPOST_PARTS = ("cl", "mb", *(f"mb{k:02d}" for k in range(1, 11)), "ml01")
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/optdigits"


SHA256 = {
    "optdigits.tra": "e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
    "train.txt": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
    "test.txt": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
    "esp.train": "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008",
    "esp.testa": "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87",
    "esp.testb": "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016",
    "en_ewt-up-dev.conllu": "70588297850e6ce287d220dc1c24f4511268eb7c9000b9aa93ab9d2a56224c6a",
    "tag_cl.ioc": "5a436f80d9e1d0262a0ae1ddc2f019679ba275c84fd76acaf5ceee7b47ce42bf",
    "tag_mb.ioc": "188e77a5ac2da31449aa0d604d24918d8c191c17086d5e8c73934ef420dbd1f9",
    "tag_mb01.ioc": "38e3506be877eca92a895a943a61440859fb21a6ec3e268dc491c77c7673e68b",
    "tag_mb02.ioc": "1178fe6811734ae321056d6a9d729241d4472aa593c50280cb41deabce91fe59",
    "tag_mb03.ioc": "2244f44830020b147ebc7e9fb98f6a1f642cef8692540d1fb03f49b7ca3ef5c8",
    "tag_mb04.ioc": "a663fb5db8210cdf3a0e1e19d3c140e004cdbfd03237619439f98db30c552171",
    "tag_mb05.ioc": "e4941448fcd9546738a41b115b1fc4a1ea8c05c0a4492dcc4f9fccaeea62606c",
    "tag_mb06.ioc": "6db5809bc21548cb810316c21814329e42f4da6cbca697cb60903cff3091cb1b",
    "tag_mb07.ioc": "9cc9d436d769adb7be3ed589e98926a2025b37d6c6338a8ff11b78843fd4da2a",
    "tag_mb08.ioc": "5f5cf0919375ab4acf6deeca3fca497bda0fa683a22e92762f11bd0158749512",
    "tag_mb09.ioc": "265af879012074825ac0ea6b471d4883593ecc1145fff7be74f47a75288c577a",
    "tag_mb10.ioc": "0cbdd859256988cd3cb8108bb1689dd1d8023990f4e48b3af1b98292f721d0cc",
    "tag_ml01.ioc": "19677909ea499c55da3eb373645a69a00b9c768752bae13baefce84a62d1d288",
}
"""By the name in the folder."""


class Source(NamedTuple):
    """A download: the file itself, or members of a ZIP archive, and their names in the folder."""

    url: str
    files: dict[str, str]
    """Member of the archive to name in the folder; the one key "" means the download itself."""
    sums: dict[str, str] = SHA256
    """SHA-256 sums, by the name in the folder."""

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Entry:
    """A data set.

    Attributes
    ----------
    what, licence, page : str
        For people: what it is, on which terms, and where it comes from.
    folder : str
        Its folder in the data home.
    files : tuple of tuples of str
        Patterns in the folder: one file of every inner tuple is needed.
    sources : tuple of Source
        Downloads; none where the terms do not clearly allow it or there is no public home.
    advice : str
        What the files are, for those who have to find them.
    """

    what: str
    licence: str
    page: str
    folder: str
    files: tuple[tuple[str, ...], ...]
    sources: tuple[Source, ...] = ()
    advice: str = ""

    def group(self, file: str) -> tuple[str, ...]:
        """Return the patterns of which one file is needed, by the last of them."""
        return next((g for g in self.files if g[-1] == file), (f"{file}.gz", file))

    def missing(self, home: Path) -> list[str]:
        """Return the first pattern of every group of which no file is there."""
        return [group[0] for group in self.files if self.there(home, group[0]) is None]

    def there(self, home: Path, pattern: str) -> Path | None:
        """Return a file of the group that a pattern belongs to, or None."""
        group = next(group for group in self.files if pattern in group)
        found = (path for p in group for path in sorted((home / self.folder).glob(p)))
        return next((path for path in found if path.is_file()), None)


def _plain(base: str, *names: str) -> tuple[Source, ...]:
    return tuple(Source(f"{base}/{name}", {"": name}) for name in names)


def _gzipped(*names: str) -> tuple[tuple[str, ...], ...]:
    return tuple((f"{name}.gz", name) for name in names)


CATALOGUE: dict[str, Entry] = {
    "letters": Entry(
        "handwritten words, letter by letter (OCR; Kassel, Taskar)",
        "none stated, offered for research",
        "https://ai.stanford.edu/~btaskar/ocr/",
        "ocr_letters",
        (("letters.npz", "letter.data.gz", "letter.data"),),
        _plain("https://ai.stanford.edu/~btaskar/ocr", "letter.data.gz"),
        advice=(
            "letter.data.gz is the tab-separated file of B. Taskar's OCR data set (52,152 "
            "letters, 134 columns a line); letters.npz holds the same as arrays."
        ),
    ),
    "optdigits": Entry(
        "handwritten digits, 8 x 8 counts (UCI data set 80)",
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/80",
        "optdigits",
        _gzipped("optdigits.tra"),
        _plain(UCI, "optdigits.tra"),
        advice=(
            "optdigits.tra is the training part of the UCI data set 80, 3,823 lines of 65 "
            "integers."
        ),
    ),
    "conll2000": Entry(
        "English sentences with part-of-speech and chunk tags (CoNLL-2000)",
        "free for research; the text is (C) Dow Jones",
        "https://www.clips.uantwerpen.be/conll2000/chunking/",
        "conll2000_chunking",
        _gzipped("train.txt", "test.txt"),
        (
            Source(
                f"{NLTK}/conll2000.zip",
                {f"conll2000/{part}.txt": f"{part}.txt" for part in ("train", "test")},
            ),
        ),
        advice="It is the data of the CoNLL-2000 shared task, also in nltk_data as conll2000.",
    ),
    "conll2002": Entry(
        "Spanish sentences with named entities (CoNLL-2002)",
        "research only",
        "https://www.clips.uantwerpen.be/conll2002/ner/",
        "conll2002_spanish",
        _gzipped("esp.train", "esp.testa", "esp.testb"),
        (
            Source(
                f"{NLTK}/conll2002.zip",
                {f"conll2002/esp.{part}": f"esp.{part}" for part in ("train", "testa", "testb")},
            ),
        ),
        advice="It is the data of the CoNLL-2002 shared task, also in nltk_data as conll2002.",
    ),
    "medpost": Entry(
        "MEDLINE sentences with part-of-speech tags (MedPost)",
        "United States Government work, public domain",
        "https://doi.org/10.1093/bioinformatics/bth227",
        "medpost",
        _gzipped(*(f"tag_{part}.ioc" for part in MEDPOST_PARTS)),
        _plain(MEDPOST, *(f"tag_{part}.ioc" for part in MEDPOST_PARTS)),
        advice=(
            "The corpus of Smith, Rindflesch and Wilbur (2004) has 13 files tag_*.ioc, gzipped "
            "or not."
        ),
    ),
    "partut": Entry(
        "English dependency trees (UD English ParTUT)",
        "CC BY-NC-SA 4.0",
        "https://github.com/UniversalDependencies/UD_English-ParTUT",
        "ud_english_partut",
        _gzipped(*(f"en_partut-ud-{part}.conllu" for part in ("train", "dev", "test"))),
        _plain(UD, *(f"en_partut-ud-{part}.conllu" for part in ("train", "dev", "test"))),
        advice=(
            "It is part of UD_English-ParTUT (universaldependencies.org), gzipped or not; other "
            "treebanks are read with read_conllu(path)."
        ),
    ),
    "srl": Entry(
        "semantic roles on the English Web Treebank (Universal Propositions 1.0)",
        "CDLA-Sharing-1.0; words and trees CC BY-SA 4.0",
        "https://github.com/UniversalPropositions/UP-1.0",
        "srl_ewt",
        _gzipped("en_ewt-up-dev.conllu"),
        _plain(UP, "en_ewt-up-dev.conllu"),
        advice=(
            "It is the file en_ewt-up-dev.conllu of UP_English-EWT in "
            "UniversalPropositions/UP-1.0."
        ),
    ),
    "hansards": Entry(
        "English-French word alignments (HLT-NAACL 2003 shared task)",
        "none stated",
        "https://web.eecs.umich.edu/~mihalcea/wpt/",
        "hansards_alignment",
        _gzipped(*(f"{p}.{e}" for p in ("dev", "test") for e in ("e", "f", "wa.nonullalign"))),
        advice="It belongs to the word alignment shared task of HLT-NAACL 2003.",
    ),
    "lidar": Entry(
        "an airborne laser scan with classes (Topography.laz of lidR, as arrays)",
        "GPL-3 (lidR)",
        "https://github.com/r-lidar/lidR",
        "lidar_ground",
        (("topography_west.npz",),),
        advice=(
            "It holds the points of Topography.laz of the R package lidR with x < 190 m, as the "
            "arrays that read_scan takes."
        ),
    ),
    "horses": Entry(
        "photographs of horses with masks (Borenstein, Ullman)",
        "none stated, offered for research",
        "https://doi.org/10.1109/TPAMI.2007.70840",
        "weizmann_horses",
        (("gray/*.jpg", "gray/*.png"), ("figure_ground/*.jpg", "figure_ground/*.png")),
        advice=(
            "Masks are white where the figure is; images of the same names are in gray or rgb. "
            "The Weizmann horse database has 328 pairs."
        ),
    ),
    "smt_nbest": Entry(
        "n-best lists of translations with references (Moses' test data)",
        "LGPL-2.1 (Moses); the text is from Europarl",
        "https://github.com/moses-smt/mosesdecoder",
        "smt_nbest",
        _gzipped("nbest.out", "reference.txt"),
        advice=(
            "nbest.out.gz holds n-best lists in the format of Moses, reference.txt.gz one "
            "reference translation a line (for example from mert/test_scorer_data of the Moses "
            "repository)."
        ),
    ),
    "swde": Entry(
        "web pages of books with attribute values (SWDE; Hao, Cai, Pang, Zhang)",
        "research data; the pages are (C) of the web site",
        "https://doi.org/10.1145/2009916.2010020",
        "swde_books",
        (("*.tar.gz",), ("groundtruth/*.txt.gz", "groundtruth/*.txt")),
        advice=(
            "There should be one archive *.tar.gz of a site of SWDE, and the tables of its "
            "values as groundtruth/*.txt or *.txt.gz."
        ),
    ),
}  # fmt: skip
