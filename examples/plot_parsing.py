"""
Parsing
=======

Dependency parsing: trees of a toy grammar, learned from 40 sentences.

An arc's features are the parts of speech of its ends, with direction, and whether they are
neighbours; `Arborescence` decodes with Edmonds' algorithm.
"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import structopt as so

TAGS = ["root", "det", "adj", "noun", "verb", "prep", "adv"]
WORDS = {
    "det": ["the", "a"], "adj": ["old", "green", "small"], "noun": ["cat", "poet", "moon", "boat"],
    "verb": ["sees", "draws", "likes"], "prep": ["with", "under"], "adv": ["often", "now"],
}  # fmt: skip


def phrase(rng, tags, heads, head):
    """Append a noun phrase that hangs on token ``head``; return the place of its noun."""
    start = len(tags)
    modifiers = ["det"] + ["adj"] * int(rng.integers(0, 3))
    noun = start + len(modifiers) + 1
    tags += [*modifiers, "noun"]
    heads += [noun] * len(modifiers) + [head]
    if rng.random() < 0.35:  # a prepositional phrase on the noun
        tags.append("prep")
        heads.append(noun)
        phrase(rng, tags, heads, len(tags))
    return noun


def sentence(rng):
    """Return tags and heads of: subject, verb, object, perhaps an adverb."""
    tags, heads = [], []
    subject = phrase(rng, tags, heads, 0)
    tags.append("verb")
    heads.append(0)
    verb = len(tags)
    heads[subject - 1] = verb
    phrase(rng, tags, heads, verb)
    if rng.random() < 0.5:
        tags.append("adv")
        heads.append(verb)
    return tags, heads


def arcs(tags):
    """Return features of all arcs: heads x dependents x features."""
    codes = [TAGS.index(t) for t in ["root", *tags]]
    k, n = len(TAGS), len(tags)
    x = np.zeros((n + 1, n, 2 * k * k + k))
    for h in range(n + 1):
        for m in range(1, n + 1):
            pair = codes[h] * k + codes[m]
            x[h, m - 1, pair + (k * k if h > m else 0)] = 1
            x[h, m - 1, 2 * k * k + codes[m]] = abs(h - m)
    return x


rng = np.random.default_rng(1)
drawn = [sentence(rng) for _ in range(140)]
X, Y = [arcs(tags) for tags, _ in drawn], [heads for _, heads in drawn]
model = so.StructuredClassifier(so.Arborescence(single_root=True), so.M3N(C=0.1), tol=1e-2)
model.fit(X[:40], Y[:40])
assert model.result_.certificate.certified
predicted = model.predict(X[40:])
shown = max(range(100), key=lambda i: (len(Y[40 + i]) == 12, Y[40 + i] == predicted[i]))
tags, gold, found = drawn[40 + shown][0], Y[40 + shown], predicted[shown]

figure = Figure(figsize=(10, 3.2), layout="constrained")
axis = figure.subplots()
for m, (head, right) in enumerate(zip(found, gold, strict=True), 1):
    colour = "tab:blue" if head == right else "tab:red"
    bend = (0.55 if head < m else -0.55) * min(1.0, 2.2 / abs(head - m) ** 0.35)
    axis.add_patch(
        FancyArrowPatch(
            (head, 0.0), (m, 0.0), connectionstyle=f"arc3,rad={-bend}", color=colour,
            arrowstyle="-|>", mutation_scale=12, lw=1.4, shrinkA=4, shrinkB=6,
        )
    )  # fmt: skip
for place, tag in enumerate(["root", *tags]):
    word = "*" if place == 0 else WORDS[tag][place % len(WORDS[tag])]
    axis.text(place, -0.35, word, ha="center", va="top", fontsize=12)
    axis.text(place, -0.85, tag, ha="center", va="top", fontsize=9, color="0.45")
axis.set(xlim=(-0.6, len(tags) + 0.6), ylim=(-1.3, 2.6))
axis.axis("off")
score = model.score(X[40:], Y[40:])
axis.set_title(f"parsed without error; {100 * score:.1f}% of heads right in 100 held out")
figure.savefig("parsing.png", dpi=120)
