import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 7: relative margin")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 7: relative margin

    One good output (the triangle), many bad ones (the squares), and a line that keeps them apart. Somebody measures the first
    feature in other units, and all its values grow. Nothing about the problem has changed, but the line with the
    largest margin (orange) turns, until it hardly looks at the other feature. The blue line bounds how far outputs
    may spread along the weights, and stays where it was.
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
def clouds(np, so):
    def cloud(scale):
        """Features of the good output (row 0) and of 25 bad ones, as something to learn from."""
        good, bad = so.datasets.make_scaled_clouds(25, scale=scale, seed=0)
        points = np.vstack([good, bad])
        outputs = so.Enumerated(range(len(points)), lambda x, y: points[y])
        structure = outputs.fitted([0], [0])  # a single example, whose gold output is row 0
        return points, structure, so.DataSet.of(structure, [0], [0])

    def learn(scale, formulation):
        _, structure, data = cloud(scale)
        return so.CuttingPlane(structure, formulation, data, tol=1e-6).solve().weights

    # B: 0.9 of the farthest that a bad output lies behind at scale 1
    _w = learn(1.0, so.StructSVM(C=1e4))
    _points = cloud(1.0)[0]
    B = 0.9 * float(np.abs((_points[0] - _points) @ _w).max())
    return B, cloud, learn


@app.cell(hide_code=True)
def drawing(B, Figure, cloud, learn, np, so):
    def draw_scale(scale, axes=None):
        points = cloud(scale)[0]
        if axes is None:
            axes = Figure(figsize=(6.4, 5.0), layout="constrained").subplots(
                2, 1, height_ratios=[3, 1]
            )
        top, bottom = axes
        top.plot(*points[1:].T, "s", ms=4, color="0.6")
        top.plot(*points[0], "^", ms=10, color="black")
        looks = (("largest margin", so.StructSVM(C=1e4), "#d55e00"),
                 ("relative margin", so.StructRMM(1e4, B=B), "#0072b2"))  # fmt: skip
        for row, (name, formulation, colour) in enumerate(looks):
            w = learn(scale, formulation)
            through = points[0] - w / (2 * (w @ w))  # half a margin below the good output
            top.axline(through, through + np.array([-w[1], w[0]]), color=colour, label=name)
            behind = (points[0] - points[1:]) @ w
            bottom.plot(behind, np.full(len(behind), -row), "|", ms=12, color=colour)
        top.set(title=f"first feature times {scale:g}", aspect="auto")
        top.legend(frameon=False, fontsize=8)
        bottom.axvline(1.0, color="0.5", lw=0.8, ls=":")
        bottom.set(yticks=[], ylim=(-1.6, 0.6), xlabel="how far behind the good output, w . delta")
        return top.figure

    return (draw_scale,)


@app.cell(hide_code=True)
def three_scales(Figure, draw_scale):
    _figure = Figure(figsize=(10, 4.4), layout="constrained")
    for _column, _scale in zip(
        _figure.subplots(2, 3, height_ratios=[3, 1]).T, (1.0, 2.0, 4.0), strict=True
    ):
        draw_scale(_scale, _column)
    _figure
    return


@app.cell(hide_code=True)
def absolute(mo):
    mo.md(r"""
    ## What a margin does not see

    The largest margin is the shortest $w$ with $w \cdot \delta(y) \ge 1$ for every bad output $y$. "Shortest" is
    measured in the units of the features. Stretch one of them, and a small weight on it goes a long way, so that the shortest
    $w$ leans on it. The ticks below the pictures show the bill: the nearest bad output stays 1 behind, as asked,
    and the others fly off to 2, 5, 8.

    A margin of 1 next to a spread of 1.5 means something. next to a spread of 8 it means little: a little noise in the wide
    direction is larger than the whole margin. What should count is the margin **relative to the spread**.

    ## Bounding the spread

    `StructRMM` adds one constraint for each output, from the other side:

    $$
    \min_w \; \tfrac12 |w|^2 + \tfrac{C}{n} \sum_i \xi_i
    \quad \text{s.t.} \quad w \cdot \delta_i(y) \ge 1 - \xi_i, \qquad
    |w \cdot \delta_i(y)| \le B \;\; \text{for all } y .
    $$

    The bound $B$ is on *projections*, which do not care about units: if weights shrink as features grow, $w \cdot \delta$
    stays the same. Move the scale.
    """)
    return


@app.cell
def choose_scale(mo):
    scale = mo.ui.slider(
        steps=[0.5, 1.0, 2.0, 3.0, 4.0, 6.0], value=3.0, label="scale", show_value=True
    )
    scale
    return (scale,)


@app.cell(hide_code=True)
def scaled(draw_scale, scale):
    draw_scale(scale.value)
    return


@app.cell(hide_code=True)
def in_weights(mo):
    mo.md(r"""
    ## The same in the plane of weights

    Each bad output now draws *two* lines: one that it must stay behind of (lesson 3), and one that it must not
    fall behind further than. No slack buys the second: what is grey is forbidden. The feasible strip turns the star away
    from where the shortest weights would be. Two oracles are asked in every round, for the best output other than gold and for the
    **worst** one.
    """)
    return


@app.cell
def planes(B, Figure, cloud, so):
    _, _structure, _data = cloud(3.0)
    _figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    _formulations = (so.StructSVM(C=1e4), so.StructRMM(1e4, B=B))
    for _ax, _formulation in zip(_figure.subplots(1, 2), _formulations, strict=True):
        _run = so.CuttingPlane(_structure, _formulation, _data, backend="clarabel", tol=1e-6)
        _run.solve()
        so.draw.plane(_run, levels="master", limits=(-0.1, 0.9, -0.2, 1.6), ax=_ax)
        _ax.set(title=type(_formulation).__name__, xlabel="", ylabel="")
        if _ax.get_legend():
            _ax.get_legend().remove()
    _figure
    return


@app.cell(hide_code=True)
def choosing(mo):
    mo.md(r"""
    ## How small should B be?

    $B = \infty$ is `StructSVM`. At $B < 1$ not even a margin of 1 fits, and slack is paid for everybody. In between it is chosen like
    $C$, on validation data; `StructRMM(C, B_fraction=0.6)` means six tenths of the largest projection that `StructSVM` has.
    Below, two classes whose inputs are wide in one direction: learned from 60 points, tested on 600.
    """)
    return


@app.cell
def how_tight(Figure, np, so):
    def draw_classes(n, seed):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=n)
        return rng.normal(size=(n, 2)) * [6.0, 0.4] + np.outer(2 * y - 1, [2.0, 0.5]), y

    X, y = draw_classes(60, 0)
    X_test, y_test = draw_classes(600, 1)
    _fractions, _scores = [0.15, 0.4, 0.7, 1.0], []
    for _fraction in _fractions:
        _model = so.StructuredClassifier(so.Multiclass(), so.StructRMM(10.0, B_fraction=_fraction))
        _scores.append(_model.fit(X, y).score(X_test, y_test))
    _ax = Figure(figsize=(5.4, 3.0), layout="constrained").subplots()
    _ax.plot(_fractions, _scores, "o-", color="#0072b2")
    _ax.set(xlabel="B, as a share of StructSVM's largest projection", ylabel="right, test")
    _ax.figure
    return X, y


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** Weights $w = (0.5, 1)$ are learned. The first feature is then measured in metres instead of kilometres (its values grow
    by 1,000). Which first weight gives the same projections?
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1():
    right_1 = 0.5 / 1000
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1, lambda given: abs(float(given) / right_1 - 1) < 1e-3)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Spread over margin: for weights `w` and points as `cloud` returns them (the good one first), return
    (largest - smallest) / smallest of $w \cdot \delta$ over the bad ones.
    """)
    return


@app.cell
def exercise_2():
    def mine_2(w, points):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    def right_2(w, points):
        behind = (points[0] - points[1:]) @ w
        return (behind.max() - behind.min()) / behind.min()

    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, cloud, learn, mine_2, right_2, so):
    def _check(answer):
        for scale in (1.0, 4.0):
            points, w = cloud(scale)[0], learn(scale, so.StructSVM(C=1e4))
            found = answer(w, points)
            if found is None:
                return "It returns None so far."
            if abs(found - right_2(w, points)) > 1e-6:
                return f"At scale {scale:g} it is {right_2(w, points):.3f}, not {found:.3f}."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** Learn `StructRMM(1e4, B=...)` at scale 4 (with `learn`) for a bound of your own, such that spread over margin is between 0.45 and
    0.55. Which `B`? (Remember that the nearest one stays 1 behind.)
    """)
    return


@app.cell
def exercise_3():
    mine_3 = None
    return (mine_3,)


@app.cell(hide_code=True)
def answer_3():
    right_3 = 1.5  # the farthest at B, the nearest at 1: (B - 1) / 1
    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, cloud, learn, mine_3, right_2, right_3, so):
    def _check(B):
        w = learn(4.0, so.StructRMM(1e4, B=float(B)))
        spread = right_2(w, cloud(4.0)[0])
        return (
            True if 0.45 <= spread <= 0.55 else f"Spread over margin is {spread:.3f} at B = {B:g}."
        )

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    Units were one way in which features are unequal. Most of them may not matter at all; lesson 8 shrinks those.
    """)
    return


if __name__ == "__main__":
    app.run()
