"""Web pages as labelled trees, and the SWDE archive and tables they come in."""

import gzip
import io
import sys
import tarfile

import numpy as np
import pytest

import structopt as so
from structopt.datasets import load_swde, read_swde
from structopt.datasets import swde as module
from structopt.datasets.web_pages import label_nodes, parse_page
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)
from structopt.features.pages import PageFeatures, node_features, shape

PAGE = """\ufeff<base href="http://x"/><!DOCTYPE html>
<html><head><title>Emma: shop</title><style>b {}</style></head>
<body class="books"><!-- hidden --><script>var x = "Emma";</script>
<div id="empty"><img src="a.png"/></div>
<h2 class="t">Emma<span> (Hard
   cover)</span></h2>
<ul><li><b>Author</b>: Jane &amp; Co<li><b>Date</b>: 1815</ul></body>"""


def tree(html):
    """The page as nested tuples of tags and texts, from the parents alone."""
    nodes = parse_page(html)
    children = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        assert -1 <= node.parent < place  # parents first
        if node.parent >= 0:
            assert node.sibling == len(children[node.parent])
            children[node.parent].append(place)

    def show(place):
        node = nodes[place]
        return node.text if node.text is not None else (node.tag, *map(show, children[place]))

    assert [node.parent for node in nodes].count(-1) == 1
    return show(0)


def test_a_page_is_the_tree_of_its_texts():
    head, body = tree(PAGE)[1:]
    assert head == ("head", ("title", "Emma: shop"))  # no style
    assert body == (  # no script, no comment, no element without text
        "body",
        ("h2", "Emma", ("span", "(Hard cover)")),
        ("ul", ("li", ("b", "Author"), ": Jane & Co"), ("li", ("b", "Date"), ": 1815")),
    )


def test_nodes_know_their_path_and_style():
    nodes = {node.text or node.tag: node for node in parse_page(PAGE)}
    assert nodes["Emma"].path == ("html", "body", "h2")
    assert nodes["Emma"].style == nodes["h2"].style == "t"
    assert nodes["body"].style == "books"


def test_deep_pages_are_no_recursion():
    depth = 200
    nodes = parse_page("<div>" * depth + "x" + "</div>" * depth)
    assert len(nodes[-1].path) == depth + 2


@pytest.mark.parametrize("html", ["", "   ", "<p></p>", "<script>a</script>", "<!-- a -->"])
def test_pages_without_text_are_refused(html):
    with pytest.raises(FileFormatError, match=r"no text|no HTML"):
        parse_page(html)


def test_elements_above_a_labelled_text_are_inside():
    nodes = parse_page(PAGE)
    labels = label_nodes(nodes, {": 1815": "date"})
    inside = [node.tag for node, label in zip(nodes, labels, strict=True) if label == "inside"]
    assert inside == ["html", "body", "ul", "li"]
    assert labels.count("date") == 1
    assert {label for n, label in zip(nodes, labels, strict=True) if n.text} == {"date", "other"}


def test_without_lxml_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingDependencyError, match=r"structopt-margin\[data\]"):
        parse_page("<p>a")


# ---------------------------------------------------------------------- features
def test_features_say_what_the_page_shows():
    nodes = parse_page(PAGE)
    by_text = dict(zip([n.text for n in nodes], node_features(nodes), strict=True))
    assert {"after=date", "shape=. 9", "tag=li", "path=body/ul/li"} <= set(by_text[": 1815"])
    assert "bold" in by_text["Emma"]
    assert "bold" not in by_text[": 1815"]
    assert "after=" in by_text["Emma: shop"]
    assert shape("") == ""
    assert shape("$3.50 ÉTÉ été") == "$9.9 A a"


def test_page_features_are_matrices_of_known_names():
    train, test = parse_page(PAGE), parse_page("<p>Never seen")
    features = PageFeatures(min_count=1).fit([train])
    names = features.get_feature_names_out()
    assert names == sorted(set(names))
    (nodes, parents, edges, types), (other, *_) = features.transform([train, test])
    assert edges is None
    assert parents == [node.parent for node in train]
    assert types == ["text" if node.text is not None else "element" for node in train]
    for row, wanted in zip(nodes.toarray(), node_features(train), strict=True):
        assert {names[j] for j in np.flatnonzero(row)} == set(wanted)
        assert set(row) <= {0.0, 1.0}
    assert other.shape == (len(test), len(names))
    assert "bias" in {names[j] for j in other.tocoo().col}
    rare = PageFeatures(min_count=2).fit([train]).get_feature_names_out()
    assert "after=date" not in rare
    assert "bias" in rare


def test_page_features_refuse_nonsense():
    with pytest.raises(InvalidInputError, match="No feature occurs 99 times"):
        PageFeatures(min_count=99).fit([parse_page("<p>a")])
    with pytest.raises(InvalidInputError, match="fit"):
        PageFeatures().transform([])


def test_a_hierarchy_learns_to_extract_from_pages_of_a_template():
    html = "<h2>{}</h2><ul><li><b>Author</b>: {}<li><b>Date</b>: {}</ul>"
    books = [("Emma", "Jane Austen", 1815), ("Moby Dick", "Herman Melville", 1851),
             ("Walden", "Henry Thoreau", 1854), ("Ulysses", "James Joyce", 1922)]  # fmt: skip
    pages = [parse_page(html.format(*book)) for book in books]
    Y = [
        label_nodes(page, {title: "title", f": {author}": "author"})
        for page, (title, author, _) in zip(pages, books, strict=True)
    ]
    features = PageFeatures().fit(pages[:2])
    X = features.transform(pages)
    allowed = {"text": ["title", "author", "other"], "element": ["inside", "outside"]}
    structure = so.Hierarchy(allowed=allowed)
    model = so.StructuredClassifier(structure, so.M3N(C=10.0)).fit(X[:2], Y[:2])
    assert model.predict(X[2:]) == Y[2:]


# ---------------------------------------------------------------------- archive and tables
def write_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if content is None:
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def write_table(path, attribute, rows):
    lines = [f"book\tshop\t{attribute}", f"{len(rows)}\t1\t1\t1"]
    lines += ["\t".join(row) for row in rows]
    data = ("\ufeff" + "\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "swde_books"
    (folder / "groundtruth").mkdir(parents=True)
    pages = {f"shop/000{k}.htm": PAGE.encode() for k in range(3)}
    write_tar(folder / "book-shop.tar.gz", pages | {"shop/notes.txt": b"\xff"})
    author = [["0000", "1", ": Jane &amp;  Co"], ["0001", "0", "<NULL>"]]
    write_table(folder / "groundtruth" / "book-shop-author.txt.gz", "author", author)
    date = [["0000", "2", ": 1815", "Emma"], ["0002", "1", "1815"]]
    write_table(folder / "groundtruth" / "book-shop-date.txt", "date", date)
    return tmp_path


def test_texts_are_labelled_by_the_values_of_their_page(site, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(site))
    pages = load_swde()
    assert [page.name for page in pages] == ["0000", "0001", "0002"]
    found = [
        {n.text: label for n, label in zip(p.nodes, p.labels, strict=True) if n.text} for p in pages
    ]
    assert {t: label for t, label in found[0].items() if label != "other"} == {
        ": Jane & Co": "author",
        ": 1815": "date",
        "Emma": "date",
    }
    assert set(found[1].values()) == {"other"}
    assert set(found[2].values()) == {"other"}  # a part of a text is not the text
    assert set(pages[1].labels) == {"outside", "other"}
    assert len(load_swde(2, home=site)) == 2


def test_nothing_of_an_archive_is_written_or_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    members = {"../../evil.htm": b"<p>a", "/abs.html": b"<p>b", "link.htm": None}
    path = write_tar(tmp_path / "a.tar.gz", members)
    assert [page.name for page in read_swde(path, [])] == ["evil", "abs"]
    assert [p.name for p in tmp_path.rglob("*")] == ["a.tar.gz"]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"s/0000.htm": b"<p>a", "s/0001.htm": b"<p>\xff"}, "page s/0001.htm: not UTF-8"),
        ({"s/0000.htm": b""}, "page s/0000.htm: "),
        ({"s/0000.htm": b"<p>"}, "page s/0000.htm: the page holds no text"),
        ({"s/0000.htm": b"<p>" + b"a" * 2000}, "page s/0000.htm: 2003 bytes, more than 1000"),
        ({"s/readme": b"a"}, "holds no page"),
    ],
)
def test_malformed_pages_are_named(tmp_path, monkeypatch, members, reason):
    monkeypatch.setattr(module, "LARGEST", 1000)
    path = write_tar(tmp_path / "a.tar.gz", members)
    with pytest.raises(FileFormatError, match=reason) as caught:
        read_swde(path, [])
    assert str(path) in str(caught.value)


def test_damaged_archives_are_refused(site):
    path = site / "swde_books" / "book-shop.tar.gz"
    whole = path.read_bytes()
    for data in (b"", b"rubbish" * 99, whole[:200], whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match="no whole archive"):
            load_swde(home=site)


def test_missing_pages_say_what_to_put_where(tmp_path):
    with pytest.raises(MissingDataError, match="one archive") as caught:
        load_swde(home=tmp_path)
    assert str(tmp_path / "swde_books") in str(caught.value)
    with pytest.raises(InvalidInputError, match="n_pages"):
        read_swde(tmp_path / "x", [], n_pages=0)
    with pytest.raises(FileNotFoundError):
        read_swde(tmp_path / "x", [])
