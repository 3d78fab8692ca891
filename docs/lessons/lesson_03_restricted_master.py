import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 3: the restricted master")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 3: the restricted master, in two weights

    A learning problem has one constraint for every wrong output, far too many to write down. Cutting
    planes keep a few of them, solve *that*, and ask an oracle which one is missing most. With two
    weights all of it can be seen: below, every line is an output that somebody could predict, the
    numbers are the rounds, and the star is the answer.
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
def data(so):
    # three small lattices; every edge has two features, every path is a possible output
    drawn = so.datasets.make_lattices(
        3, n_columns=3, width=3, n_features=2, n_references=1, noise=0.5, seed=1
    )
    X, Y = drawn.X, [paths[0] for paths in drawn.Y]
    structure = so.Lattice().fitted(X, Y)
    encoded = so.DataSet.of(structure, X, Y)
    return X, Y, encoded, structure


@app.cell(hide_code=True)
def all_of_it(encoded, so, structure):
    done = so.CuttingPlane(structure, so.M3N(C=3.0), encoded, backend="clarabel", tol=1e-4)
    optimum = done.solve().certificate.primal
    _ax = so.draw.plane(done, limits=(-1.5, 5.0, -1.0, 5.5))
    _ax.set(title="all of learning", xlabel="first weight", ylabel="second weight")
    _ax.figure
    return done, optimum


@app.cell(hide_code=True)
def problem(mo):
    mo.md(r"""
    ## The problem

    An input is a lattice, an output a path $y$ from its source to its sink. Its score is
    $w \cdot \phi(x, y)$, the sum of its edges' features weighted by $w$. With
    $\delta_i(y) = \phi(x_i, y_i) - \phi(x_i, y)$ the right path should beat every other by its loss,

    $$
    w \cdot \delta_i(y) \ge \mathrm{loss}_i(y) - \xi_i \quad \text{for every path } y,
    $$

    and what is missing, the slack $\xi_i$, is paid for. `M3N` minimises

    $$
    P(w) = \frac{|w|^2}{2C} + \sum_i \max_y \; [\mathrm{loss}_i(y) - w \cdot \delta_i(y)]_+ .
    $$

    $P$ is convex. Its level lines are the background of the picture, and each line in it is one
    constraint, $w \cdot \delta_i(y) = \mathrm{loss}_i(y)$: ticks show the side on which slack must be
    paid. Here is one of the three lattices, with its right path and the path that zero weights
    confuse with it most.
    """)
    return


@app.cell
def a_lattice(X, Y, np, so, structure):
    so.draw.structure(X[0], Y[0], structure.argmax(X[0], np.zeros(2), gold=Y[0])).figure
    return


@app.cell(hide_code=True)
def restricted(mo):
    mo.md(r"""
    ## Keep a few, and ask

    Forget all constraints but a few. What is left is the **restricted master**: small, and easy.
    Fewer constraints ask for less slack, so its objective lies below $P$ *everywhere*; in particular

    * its minimum is a **lower bound** on the optimum, and
    * $P$ at its minimiser is an **upper bound**.

    The oracle then finds the most violated path of every lattice at these weights (lesson 2: no
    list of paths is ever made). If none is violated, both bounds are equal and we are done. If one
    is, it joins the master, and the same weights will never be proposed again.

    In the library a run is a thing that you can step:
    """)
    return


@app.cell
def step_by_hand(encoded, so, structure):
    run = so.CuttingPlane(structure, so.M3N(C=3.0), encoded, backend="clarabel", tol=1e-4)
    record = run.step()
    print(f"round {record.round}: weights {record.weights}")
    print(f"{record.dual:.2f} <= optimum <= {record.primal:.2f}")
    for cut in record.found:
        print(f"lattice {cut.example}: {cut.output}, loss {cut.loss:g}, w.delta {cut.score:g}")
    return (run,)


@app.cell(hide_code=True)
def about_rounds(mo):
    mo.md(r"""
    A record knows its `weights`, the bounds `dual` and `primal` so far, and in `found` which output
    made each cut. Now move through the rounds. On the left the level lines are those of the
    *master*, which knows only the lines that are drawn; on the right those of the whole problem.
    The next round goes to the lightest place on the left, the bottom of what the master knows,
    and there the oracle looks at what stands on the right.
    """)
    return


@app.cell
def choose_round(mo):
    rounds = mo.ui.slider(1, 5, value=1, label="round", show_value=True)
    rounds
    return (rounds,)


@app.cell(hide_code=True)
def the_rounds(Figure, encoded, rounds, so, structure):
    _run = so.CuttingPlane(structure, so.M3N(C=3.0), encoded, backend="clarabel", tol=1e-4)
    for _ in range(rounds.value):
        _run.step()
    _figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    for _ax, _levels in zip(_figure.subplots(1, 2), ("master", "problem"), strict=True):
        so.draw.plane(_run, levels=_levels, limits=(-1.5, 5.0, -1.0, 5.5), ax=_ax)
        _ax.set(title=f"what the {_levels} asks for", xlabel="", ylabel="")
        if _ax.get_legend():
            _ax.get_legend().remove()
    _figure
    return


@app.cell(hide_code=True)
def closing(mo):
    mo.md(r"""
    ## The bounds close

    The lower bound can only rise, because every round adds constraints. The upper bound is the best
    $P$ seen so far: single rounds may be worse than the one before (round 2 is), which is why a
    run remembers its best weights. When they meet within the tolerance, no weights can be better by
    more than that: the run is *certified*.
    """)
    return


@app.cell
def bounds_picture(done, so):
    so.draw.bounds(done).figure
    return


@app.cell
def the_certificate(done):
    print(done.result().certificate)
    return


@app.cell(hide_code=True)
def hard(mo):
    mo.md(r"""
    ## Without slacks: the feasible set

    What if slack could not be bought? Then each line forbids its other side, and what is left is a
    polygon, cut out line by line: that is where *cutting planes* have their name from. A formulation
    of your own says so in four lines. The data are new, such that some weights satisfy everything;
    grey is what the cuts so far forbid.
    """)
    return


@app.cell
def hard_margin(Figure, so):
    import cvxpy as cp

    class HardMargin(so.Formulation):
        """min |w|^2 / 2 such that every path stays behind by its loss."""

        def master(self, m):
            w = m.weights()
            m.minimize(cp.sum_squares(w) / 2)
            m.cuts(lambda cut: cut.delta @ w >= cut.loss)

    easy = so.datasets.make_lattices(
        2, n_columns=3, width=3, n_features=2, n_references=1, noise=0.0, seed=2
    )
    _gold = [paths[0] for paths in easy.Y]
    _structure = so.Lattice().fitted(easy.X, _gold)
    _run = so.CuttingPlane(
        _structure, HardMargin(), so.DataSet.of(_structure, easy.X, _gold), backend="clarabel"
    )
    _figure = Figure(figsize=(10, 3.6), layout="constrained")
    for _ax in _figure.subplots(1, 3):
        _record = _run.step()
        so.draw.plane(_run, levels="master", ax=_ax, limits=(-3.0, 9.0, -11.0, 1.0))
        _ax.set(title=f"after round {_record.round}", xlabel="", ylabel="")
        if _ax.get_legend():
            _ax.get_legend().remove()
    _figure
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** After which round did the lower bound reach 95% of the optimum? (`done.history` has the
    records, `optimum` the number.)
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None  # a whole number
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(done, optimum):
    right_1 = next(r.round for r in done.history if r.dual >= 0.95 * optimum)
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Write the master's objective yourself. `run` was stepped once, so that its master has three
    cuts, one a lattice: `run.master.pool.cuts` has their `loss` and, as rows of
    `cuts.deltas(2).toarray()`, their $\delta$. Return
    $|w|^2 / (2C) + \sum_i [\mathrm{loss}_i - w \cdot \delta_i]_+$ for $C = 3$.
    """)
    return


@app.cell
def exercise_2(run):
    cuts = run.master.pool.cuts

    def mine_2(w):
        return None

    return cuts, mine_2


@app.cell(hide_code=True)
def answer_2(cuts, np):
    def right_2(w):
        short = cuts.loss - cuts.deltas(2).toarray() @ w
        return w @ w / 6 + np.maximum(short, 0).sum()

    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, np, right_2):
    def _check(answer):
        for _w in np.array([[0.0, 0.0], [1.0, 2.0], [-3.0, 0.5]]):
            if answer(_w) is None:
                return "It returns None so far."
            if abs(answer(_w) - right_2(_w)) > 1e-6:
                return f"At w = {_w} it should be {right_2(_w):.4f}, not {answer(_w):.4f}."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** The whole method in a few lines of your own. `solve(paths)` returns the weights that
    minimise the master with the given cuts, and `oracle(w)` the most violated path of every lattice,
    as pairs (lattice, path). Return the weights of the first round in which nothing new is found.
    """)
    return


@app.cell
def exercise_3(X, Y, np, structure):
    import cvxpy

    def delta(i, path):
        features = structure.joint_features
        return (features(X[i], Y[i]) - features(X[i], path)).toarray()[0]

    def solve(paths):
        w, xi = cvxpy.Variable(2), cvxpy.Variable(len(X), nonneg=True)
        rows = [delta(i, p) @ w >= structure.loss(Y[i], p) - xi[i] for i, p in paths]
        goal = cvxpy.Minimize(cvxpy.sum_squares(w) / 6 + cvxpy.sum(xi))
        cvxpy.Problem(goal, rows).solve(solver="CLARABEL")
        return np.asarray(w.value)

    def oracle(w):
        return {(i, structure.argmax(X[i], w, gold=Y[i])) for i in range(len(X))}

    def mine_3(solve, oracle):
        return None

    return mine_3, oracle, solve


@app.cell(hide_code=True)
def answer_3():
    def right_3(solve, oracle):
        paths = set()
        while True:
            w = solve(paths)
            if oracle(w) <= paths:
                return w
            paths |= oracle(w)

    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, done, mine_3, np, oracle, right_3, solve):
    def _check(answer):
        found = answer(solve, oracle)
        if found is None:
            return "It returns None so far."
        return bool(np.allclose(found, done.result().weights, atol=0.02))

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    Next: the lower bound came out of the master's *dual*. What that is, how to build one by hand, and
    why nobody can fool it, is lesson 4.
    """)
    return


if __name__ == "__main__":
    app.run()
