"""
Parsing
=======

Dependency parsing: trees of a toy grammar, learned from 20 sentences.

An arc's features are the parts of speech of its ends and the direction, not how far they are apart;
`Arborescence` decodes with Edmonds' algorithm, and with Eisner's where no arcs may cross
(``projective=True``), which these features do not say.
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
    x = np.zeros((n + 1, n, 2 * k * k))
    for h in range(n + 1):
        for m in range(1, n + 1):
            pair = codes[h] * k + codes[m]
            x[h, m - 1, pair + (k * k if h > m else 0)] = 1
    return x


def crossing(heads):
    """Return whether two arcs of a tree cross."""
    spans = [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in spans for c, d in spans)


rng = np.random.default_rng(1)
drawn = [sentence(rng) for _ in range(220)]
X, Y = [arcs(tags) for tags, _ in drawn], [heads for _, heads in drawn]
trees, scores = {}, {}
for name, projective in (("any tree", False), ("without crossing arcs", True)):
    structure = so.Arborescence(single_root=True, projective=projective)
    model = so.StructuredClassifier(structure, so.M3N(C=0.1), tol=1e-2).fit(X[:20], Y[:20])
    assert model.result_.certificate.certified
    trees[name], scores[name] = model.predict(X[20:]), model.score(X[20:], Y[20:])
assert not any(crossing(heads) for heads in trees["without crossing arcs"])
gold = Y[20:]
free, flat = trees.values()
shown = max(range(200), key=lambda i: (crossing(free[i]), len(gold[i]) <= 12, flat[i] == gold[i]))
tags = drawn[20 + shown][0]

figure = Figure(figsize=(10, 6), layout="constrained")
for axis, (name, found) in zip(figure.subplots(2, 1), trees.items(), strict=True):
    for m, (head, right) in enumerate(zip(found[shown], gold[shown], strict=True), 1):
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
    axis.set_title(f"{name}: {100 * scores[name]:.1f}% of heads right in 200 held out")
figure.savefig("parsing.png", dpi=120)
