"""The letters file: read whole, or refused with the file, the line and the reason."""

import gzip
import io

import numpy as np
import pytest

from structopt.datasets import load_letters, read_letters
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError

WORDS = [("on", 0), ("cat", 7), ("to", 3)]


def pixels(seed):
    return np.random.default_rng(seed).integers(0, 2, size=128)


def letter_lines(words=WORDS):
    lines, ident = [], 0
    for word_id, (word, fold) in enumerate(words, start=1):
        for position, letter in enumerate(word, start=1):
            ident += 1
            following = -1 if position == len(word) else ident + 1
            head = [ident, letter, following, word_id, position, fold]
            lines.append("\t".join(map(str, [*head, *pixels(ident)])))
    return lines


def write(path, lines, end="\n"):
    data = "".join(line + end for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def arrays(**changes):
    word_lengths = [len(word) for word, _ in WORDS]
    good = {
        "pixels": np.array([pixels(i) for i in range(1, 8)], dtype=np.uint8),
        "labels": np.array([ord(c) - 97 for word, _ in WORDS for c in word], dtype=np.uint8),
        "word_lengths": np.array(word_lengths, dtype=np.int32),
        "folds": np.array([fold for _, fold in WORDS], dtype=np.uint8),
    }
    return {k: v for k, v in (good | changes).items() if v is not None}


def check(letters):
    X, Y, folds = letters
    assert Y == [["o", "n"], ["c", "a", "t"], ["t", "o"]]
    assert folds.tolist() == [0, 7, 3]
    assert [x.shape for x in X] == [(2, 128), (3, 128), (2, 128)]
    assert {x.dtype for x in X} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(np.concatenate(X), [pixels(i) for i in range(1, 8)])


# ---------------------------------------------------------------------- good files
# The original file ends its lines with a tab.
@pytest.mark.parametrize("end", ["\n", "\t\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", ["letter.data", "letter.data.gz"])
def test_reads_the_original_format(tmp_path, name, end):
    check(read_letters(write(tmp_path / name, letter_lines(), end)))


def test_reads_arrays(tmp_path):
    np.savez(tmp_path / "letters.npz", **arrays())
    check(read_letters(tmp_path / "letters.npz"))


def test_word_id_and_position_are_not_trusted(tmp_path):
    lines = [line.split("\t") for line in letter_lines()]
    for columns in lines:
        columns[3], columns[4] = "1", "?"
    check(read_letters(write(tmp_path / "letter.data", ["\t".join(c) for c in lines])))


def test_load_finds_the_file_and_selects_folds(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    folder = tmp_path / "ocr_letters"
    folder.mkdir()
    write(folder / "letter.data.gz", letter_lines())
    X, Y = load_letters()
    assert len(X) == len(Y) == 3
    check(load_letters(return_folds=True))
    X, Y, folds = load_letters([3, 7], return_folds=True)
    assert ["".join(y) for y in Y] == ["cat", "to"]
    assert folds.tolist() == [7, 3]
    assert len(X) == 2
    assert load_letters(5) == ([], [])
    # The arrays are the fast path where both are there.
    np.savez(folder / "letters.npz", **arrays(labels=np.zeros(7, dtype=np.uint8)))
    assert load_letters(0)[1] == [["a", "a"]]
    assert len(load_letters(home=tmp_path)[0]) == 3


@pytest.mark.parametrize("folds", [10, -1, [0, 12], ["0"], [0.5]])
def test_load_refuses_folds_that_do_not_exist(tmp_path, folds):
    with pytest.raises(InvalidInputError, match="folds are 0 to 9"):
        load_letters(folds, home=tmp_path)


def test_missing_file_names_all_places(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError) as caught:
        load_letters()
    for name in ("letters.npz", "letter.data.gz", "letter.data"):
        assert str(tmp_path / "ocr_letters" / name) in str(caught.value)


# ---------------------------------------------------------------------- foreign and truncated files
def test_truncated_or_foreign_gzip(tmp_path):
    path = write(tmp_path / "letter.data.gz", letter_lines())
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for data in (whole[:-20], whole[:5], b"plain text\n", bytes(flipped)):
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match=r"letter\.data\.gz"):
            read_letters(path)


def test_binary_rubbish(tmp_path):
    path = tmp_path / "letter.data"
    path.write_bytes(np.random.default_rng(0).bytes(4000))
    with pytest.raises(FileFormatError, match="line 1"):
        read_letters(path)


class Trap:
    """Unpickling this would call the function below."""

    def __reduce__(self):
        return (pytest.fail, ("the file was unpickled",))


def test_truncated_or_foreign_npz(tmp_path):
    path = tmp_path / "letters.npz"
    np.savez_compressed(path, **arrays())
    whole = path.read_bytes()
    lone = io.BytesIO()
    np.save(lone, np.arange(3))
    flipped = bytearray(whole)
    flipped[60] ^= 0xFF
    for data in (b"", whole[:-30], whole[: len(whole) // 2], b"rubbish", lone.getvalue(), flipped):
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match=r"letters\.npz"):
            read_letters(path)


def test_npz_is_never_unpickled(tmp_path):
    path = tmp_path / "letters.npz"
    trap = np.empty(1, dtype=object)
    trap[0] = Trap()
    np.savez(path, **arrays(pixels=trap))
    with pytest.raises(FileFormatError, match="plain arrays"):
        read_letters(path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"folds": None}, "expected arrays pixels, labels, word_lengths, folds"),
        ({"pixels": np.zeros((7, 64), dtype=np.uint8)}, r"\(7, 64\)"),
        ({"labels": np.zeros(6, dtype=np.uint8)}, r"\(6,\)"),
        ({"labels": np.zeros(7)}, "integers"),
        ({"labels": np.full(7, 26)}, "labels should be between 0 and 25"),
        ({"pixels": np.full((7, 128), 2)}, "pixels should be between 0 and 1"),
        ({"folds": np.array([0, -1, 2])}, "folds should be between 0 and 9"),
        ({"word_lengths": np.array([2, 3, 3])}, "add up to 8, but there are 7"),
        ({"word_lengths": np.array([7, 0, 0])}, "positive length"),
        ({"word_lengths": np.array([2, 5])}, "positive length and a fold"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, changes, reason):
    path = tmp_path / "letters.npz"
    np.savez(path, **arrays(**changes))
    with pytest.raises(FileFormatError, match=reason):
        read_letters(path)
