"""
Extragradient against perceptron
================================

Word alignment: extragradient against the averaged perceptron, error by pass over the data.
"""

from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_alignments(140, mean_edges=60, seed=0)
structure = so.Matching().fitted(X, Y)
data = so.DataSet.of(structure, X[:40], Y[:40])
X_test, Y_test = X[40:], Y[40:]


def error(weights):
    predicted = structure.predict(X_test, weights)
    wrong = sum(structure.part_errors(y, p) for y, p in zip(Y_test, predicted, strict=True))
    return wrong / sum(len(y) for y in Y_test)


# both touch the data once or twice a pass; the extragradient method also proves how far it is
saddle, passes, errors, gaps = so.SaddleExtragradient(structure, so.M3N(C=0.5), data), [], [], []
while saddle.iterations < 70:
    record = saddle.step()
    passes.append(saddle.iterations)
    errors.append(error(saddle.current))
    gaps.append(record.relative_gap)
perceptron = so.Perceptron(structure, so.M3N(), data, max_iter=40)
averaged = []
for _ in range(40):
    perceptron.step()
    averaged.append(error(perceptron.model()))

figure = Figure(figsize=(6, 3.5), layout="constrained")
left = figure.subplots()
left.plot(passes, errors, "o-", label="extragradient, C = 0.5")
left.plot(range(1, 41), averaged, label="averaged perceptron")
left.set(xlabel="passes over the data", ylabel="wrong links per gold link (test)")
right = left.twinx()
right.semilogy(passes, gaps, "k:", label="certified gap (extragradient)")
right.set(ylabel="relative gap")
lines = [*left.get_lines(), *right.get_lines()]
left.legend(lines, [line.get_label() for line in lines])
figure.savefig("alignment.png", dpi=120)
