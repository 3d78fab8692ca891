import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 8: shrinkage and paths")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 8: l1, Laplace, adaptive, and the path between them

    What a weight costs decides what becomes of small ones. On the left, the price of one weight. On the right, what is left of a
    weight that the data would like to be $a$: a square shrinks everything by the same share, an absolute value takes the same
    amount from each and leaves nothing of the small ones, and Laplace's price does a little of both.
    """)
    return


@app.cell
def imports():
    import marimo as mo
    import numpy as np
    from matplotlib.figure import Figure

    import structopt as so
    from structopt.lab.exercise import Exercise

    return Exercise, Figure, mo, np, so


@app.cell
def prices(np):
    def square(w):
        return w**2 / 2

    def absolute(w):
        return np.abs(w) / 2

    def laplace(w, lam=4.0):
        rho = np.sqrt(1 + lam * w**2)
        price = rho - 1 - np.log((rho + 1) / 2)
        return price / (2 * np.sqrt(lam))  # so that far out all are as steep as |w| / 2

    def shrunk(price, a):
        """What is left of a: the w that minimises (w - a)^2 / 2 + price(w)."""
        w = np.linspace(-4, 4, 8001)
        return w[np.argmin((w - a) ** 2 / 2 + price(w))]

    return absolute, laplace, shrunk, square


@app.cell(hide_code=True)
def drawing(Figure, absolute, laplace, np, shrunk, square):
    def draw_prices(lam):
        figure = Figure(figsize=(9.2, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        w = np.linspace(-3, 3, 301)
        each = {
            "square (M3N)": (square, "#0072b2"),
            "absolute value (L1M3N)": (absolute, "#d55e00"),
            f"Laplace (lam = {lam:g})": (lambda w: laplace(w, lam), "#009e73"),
        }
        for name, (price, colour) in each.items():
            left.plot(w, price(w), color=colour, lw=2, label=name)
            right.plot(w, [shrunk(price, a) for a in w], color=colour, lw=2)
        right.plot(w, w, color="0.7", lw=0.8, ls=":")
        left.set(xlabel="w", ylabel="price", ylim=(0, 3))
        right.set(xlabel="a, what the data want", ylabel="what is left of it")
        left.legend(frameon=False, loc="upper center", fontsize=8)
        return figure

    return (draw_prices,)


@app.cell
def shrinkage(draw_prices):
    draw_prices(4.0)
    return


@app.cell(hide_code=True)
def about_prices(mo):
    mo.md(r"""
    ## Four formulations

    * `M3N`: $\sum_k w_k^2$. No kink at zero: no weight is ever exactly zero.
    * `L1M3N`: $\frac12 \sum_k |w_k|$. A kink: zeros, and few of the others (lesson 5).
    * `LaplaceM3N`: the mean of a posterior under a Laplace prior,
      $\sum_k [\rho_k - 1 - \log \frac{\rho_k + 1}{2}]$ with $\rho_k = \sqrt{1 + \lambda w_k^2}$. Round near zero, straight far out: small weights
      are shrunk hard, large ones hardly, and none is exactly zero.
    * `AdaptiveM3N`: every weight has a scale $\tau_k$, and the scales share a budget. The best scales make it
      $\frac{\lambda}{K} (\sum_k |w_k|)^2$: the level lines of `L1M3N`, with another price for being far out.

    Move Laplace's $\lambda$: small ones make it a (flat) square, large ones an absolute value.
    """)
    return


@app.cell
def choose_lam(mo):
    lam = mo.ui.slider(steps=[0.3, 1.0, 4.0, 20.0, 100.0], value=1.0, label="lam", show_value=True)
    lam
    return (lam,)


@app.cell(hide_code=True)
def moved_prices(draw_prices, lam):
    draw_prices(lam.value)
    return


@app.cell(hide_code=True)
def balls(mo):
    mo.md(r"""
    ## Two weights: where the corners are

    The same prices for two weights. Where a level line first touches what the data ask for, there is the
    optimum; a corner on an axis is easy to touch, and there the other weight is zero.
    """)
    return


@app.cell
def level_lines(Figure, absolute, laplace, np, square):
    _u = np.linspace(-2, 2, 161)
    _a, _b = np.meshgrid(_u, _u)
    _figure = Figure(figsize=(10, 2.8), layout="constrained")
    _each = {
        "M3N": square(_a) + square(_b),
        "LaplaceM3N, lam = 20": laplace(_a, 20.0) + laplace(_b, 20.0),
        "L1M3N": absolute(_a) + absolute(_b),
        "AdaptiveM3N": (np.abs(_a) + np.abs(_b)) ** 2 / 2,
    }
    for _ax, (_name, _price) in zip(_figure.subplots(1, 4), _each.items(), strict=True):
        _ax.contour(_a, _b, _price, levels=8, cmap="Blues_r", linewidths=1.2)
        _ax.set(title=_name, aspect="equal", xticks=[0], yticks=[0])
        _ax.grid(alpha=0.4)
    _figure
    return


@app.cell(hide_code=True)
def on_data(mo):
    mo.md(r"""
    ## On data

    Chains with 12 inputs, of which only the first 3 say anything about the labels. (The first 12 weights in each picture belong to one
    label, the next 12 to the other, the last 4 to the transitions; the relevant ones are dark.) The last two formulations are learned
    by `method="em"`: solve an `M3N` whose weights have scales, choose new scales, repeat.
    """)
    return


@app.cell
def learned(Figure, np, so):
    _rng = np.random.default_rng(0)
    Y = [_rng.integers(2, size=5) for _ in range(80)]
    X = [_rng.normal(size=(5, 12)) + np.outer(2 * y - 1, np.arange(12) < 3) for y in Y]
    train = X[:30], Y[:30]
    formulations = {
        "M3N": (so.M3N(C=1.0), "auto"),
        "L1M3N": (so.L1M3N(C=0.1), "auto"),
        "LaplaceM3N": (so.LaplaceM3N(C=1.0, lam=20.0), "em"),
        "AdaptiveM3N": (so.AdaptiveM3N(C=0.2, lam=4.0), "em"),
    }
    fitted = {}
    _figure = Figure(figsize=(10, 3.0), layout="constrained")
    for _ax, (_name, (_formulation, _method)) in zip(
        _figure.subplots(1, 4), formulations.items(), strict=True
    ):
        _model = so.StructuredClassifier(so.Chain(), _formulation, method=_method, tol=1e-2)
        fitted[_name] = _model.fit(*train)
        _w = _model.result_.weights
        _relevant = np.r_[np.tile(np.arange(12) < 3, 2), np.ones(len(_w) - 24, dtype=bool)]
        _ax.bar(range(len(_w)), _w, color=np.where(_relevant, "#0072b2", "#9ecae1"))
        _score = 100 * _model.score(X[30:], Y[30:])
        _zero = int(np.sum(_w == 0))
        _ax.set(title=f"{_name}\n{_zero} zeros, {_score:.0f}% right", xticks=[])
    _figure
    return X, Y, fitted, train


@app.cell(hide_code=True)
def about_path(mo):
    mo.md(r"""
    ## The path

    Which $C$? Try many: `so.fit_path` goes from small to large and begins each with the cuts of the one before, so that it
    costs little more than one. With few errors paid for, nothing is worth a weight. Then they enter one by one, and the relevant
    ones are first.
    """)
    return


@app.cell
def the_path(Figure, X, Y, np, so, train):
    values = np.geomspace(0.003, 0.3, 12)
    model = so.StructuredClassifier(so.Chain(), so.L1M3N(), backend="highs", tol=1e-3)
    path = so.fit_path(model, *train, values)
    weights = np.array([result.weights for result in path.results])
    _figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    _left, _right = _figure.subplots(1, 2)
    for _k in range(24):
        _relevant = _k % 12 < 3
        _left.plot(
            values,
            weights[:, _k],
            color="#0072b2" if _relevant else "0.75",
            lw=1.8 if _relevant else 0.8,
        )
    _left.set(xscale="log", xlabel="C", ylabel="weights (relevant inputs blue)")
    _right.plot(values, path.scores(X[30:], Y[30:]), "o-", color="#009e73")
    _right.set(xscale="log", xlabel="C", ylabel="right on held-out chains")
    _figure
    return path, values, weights


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** Write down what an absolute value with price `t |w|` leaves of `a` (for arrays, too): the *soft threshold*.
    """)
    return


@app.cell
def exercise_1():
    def mine_1(a, t):
        return None

    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(np):
    def right_1(a, t):
        return np.sign(a) * np.maximum(np.abs(a) - t, 0.0)

    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, np, right_1):
    def _check(answer):
        a = np.array([-2.0, -0.4, 0.0, 0.3, 0.5, 3.0])
        found = answer(a, 0.5)
        if found is None:
            return "It returns None so far."
        if not np.allclose(found, right_1(a, 0.5)):
            return f"Of {a} with t = 0.5 is left {right_1(a, 0.5)}."
        return True

    Exercise(mine_1, right_1, _check)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** At the last value on the path, which share of the weights of *irrelevant* inputs is zero? (`weights[-1]`; inputs 3 to 11 of the
    first 12 weights and of the next 12.)
    """)
    return


@app.cell
def exercise_2():
    mine_2 = None
    return (mine_2,)


@app.cell(hide_code=True)
def answer_2(np, weights):
    right_2 = np.mean(weights[-1][:24].reshape(2, 12)[:, 3:] == 0)
    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, right_2):
    Exercise(mine_2, right_2)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** The scales of `AdaptiveM3N`: minimise $\sum_k w_k^2 / \tau_k$ over $\tau_k \ge 0$ with $\frac1K \sum_k \tau_k = \frac1\lambda$. They come out in
    proportion to $|w_k|$. Return them, for an array `w` without zeros.
    """)
    return


@app.cell
def exercise_3():
    def mine_3(w, lam):
        return None

    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(np):
    def right_3(w, lam):
        return len(w) / lam * np.abs(w) / np.abs(w).sum()

    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, np, right_3):
    def _check(answer):
        w = np.array([1.0, -2.0, 0.5])
        found = answer(w, 4.0)
        if found is None:
            return "It returns None so far."
        found = np.asarray(found, dtype=float)
        if found.shape != (3,) or abs(found.mean() - 1 / 4.0) > 1e-9:
            return "Their mean must be 1 / lam."
        return bool(np.allclose(found, right_3(w, 4.0)))

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    So far outputs were what an oracle returned. Lesson 9 moves *between* outputs.
    """)
    return


if __name__ == "__main__":
    app.run()
