"""Data to learn from: generators of synthetic data, and readers of public files.

Generators are seeded; files are read from :func:`~structopt.datasets.home.data_home`. Nothing is
downloaded unless you call :func:`~structopt.datasets.download.fetch`.

>>> from structopt import datasets
>>> X, Y = datasets.make_chain_crf(n_examples=3, seed=0)
>>> len(X), X[0].shape, len(Y[0])
(3, (8, 100), 8)
"""

from __future__ import annotations

from structopt.datasets.alignments import make_alignments
from structopt.datasets.chunks import Chunk, Chunks, stream
from structopt.datasets.clouds import make_scaled_clouds
from structopt.datasets.columns import ColumnSentence, load_conll2000, load_conll2002, read_columns
from structopt.datasets.conllu import load_partut, load_treebank, read_conllu
from structopt.datasets.constrained import ConstrainedLabels, make_constrained_labels
from structopt.datasets.crfsuite_files import read_crfsuite
from structopt.datasets.csr_files import load_csr, save_csr
from structopt.datasets.decisions import make_knapsacks, make_shortest_paths
from structopt.datasets.digits import digit_source, load_digit_words, load_digits_classes
from structopt.datasets.download import fetch
from structopt.datasets.grids import make_grids
from structopt.datasets.hansards import load_hansards, load_hansards_corpus
from structopt.datasets.home import data_home, find_data
from structopt.datasets.horses import load_horses, read_pair
from structopt.datasets.image_grids import image_grid
from structopt.datasets.json_lines import read_json_lines
from structopt.datasets.lattices import LatticeData, make_lattices
from structopt.datasets.letters import load_letters, read_letters
from structopt.datasets.lidar import load_lidar, read_scan
from structopt.datasets.medpost import TaggedSentence, load_medpost, read_medpost
from structopt.datasets.nbest import NBestList, load_smt_nbest, read_nbest
from structopt.datasets.optdigits import load_optdigits, read_optdigits
from structopt.datasets.rankings import make_rankings, make_rare_items
from structopt.datasets.scan_graphs import Scan, scan_tiles
from structopt.datasets.segment_signals import make_segment_signals
from structopt.datasets.sentences import make_sentences
from structopt.datasets.sequence_pairs import make_protein_pairs, make_typos
from structopt.datasets.srl import load_srl, read_srl
from structopt.datasets.svmlight_files import read_svmlight
from structopt.datasets.swap_lattices import make_swap_lattices, swap_lattice_chunks
from structopt.datasets.swde import WebPage, load_swde, read_swde
from structopt.datasets.synthetic import ChainCRF, chain_crf, make_chain_crf, make_classes
from structopt.datasets.treebank import Treebank, make_treebank, read_brackets
from structopt.datasets.web_pages import label_nodes, parse_page
from structopt.datasets.zigzags import make_zigzags

__all__ = [
    "ChainCRF",
    "Chunk",
    "Chunks",
    "ColumnSentence",
    "ConstrainedLabels",
    "LatticeData",
    "NBestList",
    "Scan",
    "TaggedSentence",
    "Treebank",
    "WebPage",
    "chain_crf",
    "data_home",
    "digit_source",
    "fetch",
    "find_data",
    "image_grid",
    "label_nodes",
    "load_conll2000",
    "load_conll2002",
    "load_csr",
    "load_digit_words",
    "load_digits_classes",
    "load_hansards",
    "load_hansards_corpus",
    "load_horses",
    "load_letters",
    "load_lidar",
    "load_medpost",
    "load_optdigits",
    "load_partut",
    "load_smt_nbest",
    "load_srl",
    "load_swde",
    "load_treebank",
    "make_alignments",
    "make_chain_crf",
    "make_classes",
    "make_constrained_labels",
    "make_grids",
    "make_knapsacks",
    "make_lattices",
    "make_protein_pairs",
    "make_rankings",
    "make_rare_items",
    "make_scaled_clouds",
    "make_segment_signals",
    "make_sentences",
    "make_shortest_paths",
    "make_swap_lattices",
    "make_treebank",
    "make_typos",
    "make_zigzags",
    "parse_page",
    "read_brackets",
    "read_columns",
    "read_conllu",
    "read_crfsuite",
    "read_json_lines",
    "read_letters",
    "read_medpost",
    "read_nbest",
    "read_optdigits",
    "read_pair",
    "read_scan",
    "read_srl",
    "read_svmlight",
    "read_swde",
    "save_csr",
    "scan_tiles",
    "stream",
    "swap_lattice_chunks",
]
