"""What every reader says about lines it cannot read: the file, the line and the reason."""

import gzip
import re
from functools import partial

import pytest

from structopt.datasets import (
    read_columns,
    read_conllu,
    read_letters,
    read_medpost,
    read_nbest,
    read_optdigits,
    read_srl,
)
from structopt.datasets.hansards import read_links
from structopt.datasets.swde import read_table
from structopt.errors import FileFormatError

DIGIT = ",".join(["0", "16"] * 32)
LINKS = "1 1 1 S\n"
NBEST = """\
0||| this is it .  ||| d: 0 -7.5 lm: -41.25 ||| -14.5
0 ||| this it is . ||| d: 1 -6 lm: -4e1 ||| -14 ||| 0-0 1-1

2 ||| ||| d: 0 0 lm= 0 ||| 0
"""
TREES = """\
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVM\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tN\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
3.1\tgone\tgo\tVERB\tV\t_\t_\t_\t_\t_

# sent_id = 2
1\tWe\twe\tPRON\tPE\t_\t2\tnsubj\t_\t_
2\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
"""
ROLES = """\
# sent_id = 1
1\tKim\tKim\tPROPN\tNNP\t_\t5\tnsubj\t_\t_\t_\tARG1\tARG0
2\twhom\twho\tPRON\tWP\t_\t4\tobj\t_\t_\t_\tR-ARG1\t_
3\tbirds\tbird\tNOUN\tNNS\t_\t4\tnsubj\t_\t_\t_\tARG0\t_
4\tlike\tlike\tVERB\tVBP\t_\t1\tacl:relcl\t_\t_\tlike.01\tV\t_
5\tsings\tsing\tVERB\tVBZ\t_\t0\troot\t_\t_\tsing.01\t_\tV
6\tof\tof\tADP\tIN\t_\t7\tcase\t_\t_\t_\t_\t_
7\tthem\tthey\tPRON\tPRP\t_\t5\tobl\t_\t_\t_\t_\tARG1
"""
TABLE = "book\tshop\ttitle\n1\t1\t1\t1\n"


def letters(*changes, keep=slice(None), more=()):
    """Seven letters of three words; (line, column, value) changed, lines left out or added."""
    words = ((1, 2, 0), (2, -1, 0), (3, 4, 7), (4, 5, 7), (5, -1, 7), (6, 7, 3), (7, -1, 3))
    lines = [f"{i}\ta\t{n}\t1\t1\t{fold}\t" + "\t".join("01" * 64) for i, n, fold in words]
    for line, column, value in changes:
        columns = lines[line - 1].split("\t")
        columns[column - 1] = value
        lines[line - 1] = "\t".join(columns)
    return "\n".join([*lines[keep], *more]) + "\n"


def swapped(text, old, new):
    """Put something else where it first stands."""
    assert old in text
    return text.replace(old, new, 1)


links = partial(read_links, sizes=[(2, 2), (2, 3)])

READERS = {
    read_letters: [
        (letters((2, 2, "N")), "line 2: column 2 should be a letter a-z, not 'N'"),
        (letters((2, 2, "ab")), "line 2: column 2 should be a letter a-z, not 'ab'"),
        (letters((2, 2, "é")), "line 2: column 2 should be a letter"),
        (letters((3, 1, "x3")), "line 3: column 1 should be an integer, not 'x3'"),
        (letters((3, 1, "9" * 30)), "line 3: column 1 should be an integer"),
        (letters((3, 3, "")), "line 3: column 3 should be an integer, not ''"),
        (letters((3, 3, "1_0")), "line 3: column 3 should be an integer, not '1_0'"),
        (letters((4, 6, "12")), "line 4: column 6 should be a fold 0-9, not 12"),
        (letters((4, 6, "6")), "line 4: fold 6 in a word that began in fold 7"),
        (letters((4, 1, "9")), "line 4: the letter before names 4 as the next, but this is 9"),
        (letters((5, 30, "2")), "line 5: each pixel should be 0 or 1"),
        (letters((5, 30, "01")), "line 5: each pixel should be 0 or 1"),
        (letters((5, 30, "")), "line 5: each pixel should be 0 or 1"),
        # an empty pixel and a two-digit one keep both the length and the number of columns
        (letters((6, 40, ""), (6, 51, "10")), "line 6: each pixel should be 0 or 1"),
        (letters((5, 30, "0\t1")), "line 5: expected 134 tab-separated columns, found 135"),
        (letters(more=["hello"]), "line 8: expected 134 tab-separated columns, found 1"),
        (letters(keep=slice(4)), "line 4: the file ends inside a word; letter 5 should follow"),
        (letters(keep=slice(2, None, 2)), "line 2: the letter before names 4"),
        ("", "holds no letters"),
    ],
    read_conllu: [
        (swapped(TREES, "\tPRON\tPE", "\tPRON PE"), "line 9: 9 columns, expected 10"),
        (swapped(TREES, "2\tgo\tgo", "3\tgo\tgo"), "line 10: ID '3', expected 2"),
        (swapped(TREES, "_\t2\tnsubj", "_\t_\tnsubj"), "line 9: HEAD '_' is not a number"),
        (swapped(TREES, "_\t2\tnsubj", "_\t-1\tnsubj"), "line 9: HEAD '-1' is not a number"),
        (swapped(TREES, "_\t2\tnsubj", "_\t3\tnsubj"), "line 9: HEAD 3 in a sentence of 2 tok"),
        (swapped(TREES, "_\t0\troot", "_\t2\troot"), "line 3: token 1 is on or below a cycle"),
        ("# nothing\n", "holds no sentence"),
    ],
    read_columns: [
        ("a b c\na b\n", "line 2: 2 columns, expected 3"),
        ("\n\n", "holds no sentence"),
    ],
    read_medpost: [
        ("P1A01\na_B c\n", "line 2: 'c' is no word_TAG"),
        ("P1A01\na_B\nP1A02\n", "line 3: the file ends after"),
        ("a_B c_D\nP1A01\n", "line 1: expected a sentence's id"),
        ("", "holds no sentence"),
    ],
    read_optdigits: [
        (DIGIT + ",7\n1,2\n", "line 2: 2 fields, expected 65"),
        (DIGIT + ",x\n", "line 1: not a whole number"),
        (DIGIT.replace("16", "17", 1) + ",1\n", "line 1: counts are 0..16"),
        (DIGIT + ",10\n", "classes 0..9"),
        ("\n", "holds no digit"),
    ],
    read_srl: [
        (swapped(ROLES, "3\tbirds\tbird", "3 birds\tbird"), "line 4: word '3 birds' stands where"),
        (swapped(ROLES, "4\tlike", "9\tlike"), "line 5: word '9' stands where 4 should"),
        (swapped(ROLES, "_\t5\tnsubj", "_\t77\tnsubj"), "line 2: the head is '77'; expected a nu"),
        (swapped(ROLES, "_\t5\tnsubj", "_\t77\tnsubj"), "number from 0 to 7"),
        (swapped(ROLES, "_\t5\tnsubj", "_\tx\tnsubj"), "line 2: the head is 'x'"),
        (swapped(ROLES, "_\t5\tnsubj", "_\t1\tnsubj"), "not the word itself"),
        (swapped(ROLES, "ARG1\tARG0\n", "ARG1\n"), "line 2: 1 columns of arguments for 2 pred"),
        (swapped(ROLES, "ARG1\tARG0\n", "ARG1\tARG0\tARG2\n"), "line 2: 3 columns of arguments fo"),
        (swapped(ROLES, "# sent_id = 1\n", "1\tKim\n"), "line 1: 2 columns; expected 10 or more"),
    ],
    read_nbest: [
        (NBEST + "0 ||| a ||| d: 1", "line 5: .*found 3 field"),
        (NBEST + "x ||| a ||| d: 1 2 lm: 3 ||| 0", "line 5: .*a number from 0, not 'x'"),
        (NBEST + "-1 ||| a ||| d: 1 2 lm: 3 ||| 0", "line 5: .*should be a number from 0"),
        (NBEST + "0 ||| a ||| 1 2 lm: 3 ||| 0", "line 5: .*'1' comes before any name"),
        (
            NBEST + "0 ||| a ||| d: 1 b lm: 3 ||| 0",
            "line 5: a value of 'd' should be a number, not",
        ),
        (NBEST + "0 ||| a ||| d: 1 nan lm: 3 ||| 0", "line 5: .*is nan, which is not finite"),
        (NBEST + "0 ||| a ||| d: 1 2 lm: 3 ||| high", "line 5: the score should be a number"),
        (NBEST + "0 ||| a ||| ||| 0", "line 5: there are no features"),
        (NBEST + "0 ||| a ||| d: 1 d: 2 ||| 0", "line 5: a feature stands twice among d, d"),
        (
            NBEST + "2 ||| a ||| d: 1 2 lm: ||| 0",
            "line 5: 2 features d_0, d_1; the lines before",
        ),
        (NBEST + "0 ||| a ||| d: 1 2 lm: 3 ||| 0", "line 5: sentence 0 again, after sentence 2"),
        ("\n\n", "holds no hypotheses"),
    ],
    links: [
        (LINKS + "1 1", "line 2: .*3 or 4 columns"),
        (LINKS + "1 1 1 Q", "line 2: .*S or P"),
        (LINKS + "1 x 1 S", "line 2: .*whole numbers"),
        (LINKS + "3 1 1 S", "line 2: .*there are 2 sentences"),
        (LINKS + "1 3 1 S", "line 2: .*2 and 2 words"),
        (LINKS + "1 0 1 S", "line 2: .*2 and 2 words"),
    ],
    read_table: [
        (TABLE + "0000\t2\ta", "line 3: 1 values, where '2' are said to be"),
        (TABLE + "0000\tx\ta", "line 3: 1 values, where 'x'"),
        (TABLE + "0000", "line 3: 0 values, where ''"),
        (TABLE + "0000\t1\ta\n0000\t1\ta", "line 4: page 0000 again"),
        ("hello\n", "vertical, site and attribute"),
    ],
}
ROWS = [(reader, text, reason) for reader, rows in READERS.items() for text, reason in rows]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("reader", "text", "reason"), ROWS)
def test_malformed_lines_name_file_line_and_reason(tmp_path, reader, text, reason, packed):
    path = tmp_path / ("file.gz" if packed else "file")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(FileFormatError, match=reason) as caught:
        reader(path)
    where = re.escape(str(path)) + (", line" if reason.startswith("line") else "")
    assert re.match(where, str(caught.value))


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_text_or_cut_short_is_refused(tmp_path, reader):
    text = READERS[reader][0][0].encode()
    path = tmp_path / "file.gz"
    for raw in (gzip.compress(text)[:-9], gzip.compress(text)[:12], b"\x1f\x8b\x08broken"):
        path.write_bytes(raw)
        with pytest.raises(FileFormatError, match="truncated or damaged: not a whole gzip file"):
            reader(path)
    path.write_bytes(b"1\t\xff\xfe\n")
    with pytest.raises(
        FileFormatError, match="line 1: " if reader is read_letters else "not UTF-8"
    ):
        reader(path)
