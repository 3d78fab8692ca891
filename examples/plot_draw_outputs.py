"""
Outputs, drawn
==============

``so.draw.structure(x, y, y_hat)``: labels, trees, matchings, cuts, hierarchies and lattices, gold
beside predicted.

What is right is blue, what was predicted and is wrong red, what was missed dashed orange.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import structopt as so

figure = Figure(figsize=(12, 9), layout="constrained")
(chain, tree), (matching, cut), (hierarchy, lattice) = figure.subplots(3, 2)

X, Y = so.datasets.load_digit_words(30, seed=0)
images = [row.reshape(8, 8) for row in X[0]]
wrong = [int(label) for label in Y[0]]
wrong[2] = (wrong[2] + 1) % 10
so.draw.structure(X[0], list(map(int, Y[0])), wrong, words=images, ax=chain)

words = ["the", "old", "cat", "sees", "a", "small", "green", "boat"]
arcs = np.zeros((9, 8, 1))  # only heads are drawn
so.draw.structure(arcs, [3, 3, 4, 0, 8, 8, 8, 4], [3, 3, 4, 0, 7, 8, 8, 4], words=words, ax=tree)

pair = (["das", "ist", "ein", "Haus"], ["this", "is", "a", "house", "!"])
edges = np.zeros((4, 5, 1))
so.draw.structure(
    edges, {(0, 0), (1, 1), (3, 3)}, {(0, 0), (1, 2), (3, 3)}, words=pair, ax=matching
)

grid = nx.grid_2d_graph(5, 8)
labels = np.array([int(row + column > 5) for row, column in grid])
found = labels.copy()
found[[14, 30]] ^= 1
so.draw.structure((grid, np.zeros((40, 1))), labels, found, ax=cut)

page = (np.zeros((7, 1)), [-1, 0, 0, 1, 1, 2, 2])
kinds, guess = list("ptnaann"), list("ptnaata")
so.draw.structure(page, kinds, guess, words=list("0123456"), ax=hierarchy)

x = nx.DiGraph(source=0, sink=6)
for u, v, word in (
    (0, 1, "recognise"), (0, 2, "wreck"), (2, 3, "a nice"), (1, 4, "speech"),
    (3, 4, "beach"), (3, 5, "peach"), (4, 6, "now"), (5, 6, "now"),
):  # fmt: skip
    x.add_edge(u, v, label=word, features=[1.0])
so.draw.structure(x, [(0, 1), (1, 4), (4, 6)], [(0, 2), (2, 3), (3, 4), (4, 6)], ax=lattice)
figure.savefig("draw_outputs.png", dpi=120)
