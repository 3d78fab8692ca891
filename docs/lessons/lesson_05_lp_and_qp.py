import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 5: LP against QP")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 5: a linear programme against a quadratic one

    The same lattices as in lesson 3, the same cuts, two prices for weights. On the left their sum of
    squares is paid, on the right the sum of their absolute values. Round level lines, and the star lies anywhere;
    level lines with corners, and the star sits *in* one. That one difference decides how many weights are
    zero, what a solution looks like, and which solver you want.
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
    _drawn = so.datasets.make_lattices(
        3, n_columns=3, width=3, n_features=2, n_references=1, noise=0.5, seed=1
    )
    X, Y = _drawn.X, [paths[0] for paths in _drawn.Y]
    lattice = so.Lattice().fitted(X, Y)
    encoded = so.DataSet.of(lattice, X, Y)
    return encoded, lattice


@app.cell(hide_code=True)
def both(Figure, encoded, lattice, so):
    def draw_both(C):
        """Draw both optima; of the quadratic programme at 4 C, where weights are about as large."""
        figure = Figure(figsize=(9.5, 4.2), layout="constrained")
        programmes = (so.M3N(C=4 * C), "clarabel"), (so.L1M3N(C=C), "highs")
        for ax, (formulation, backend) in zip(figure.subplots(1, 2), programmes, strict=True):
            run = so.CuttingPlane(lattice, formulation, encoded, backend=backend, tol=1e-6)
            found = run.solve()
            so.draw.plane(run, limits=(-1.5, 5.0, -1.0, 5.5), ax=ax)
            name = type(formulation).__name__
            where = ", ".join(f"{w:.2f}" for w in found.weights)
            ax.set(title=f"{name}: w = ({where})", xlabel="", ylabel="")
            if ax.get_legend():
                ax.get_legend().remove()
        return figure

    return (draw_both,)


@app.cell
def two_prices(draw_both):
    draw_both(0.2)
    return


@app.cell(hide_code=True)
def programmes(mo):
    mo.md(r"""
    ## Two programmes

    | | price of weights | with slacks | the master is |
    |---|---|---|---|
    | `M3N(C)` | $|w|^2 / (2C)$ | $\sum_i \xi_i$ | a quadratic programme |
    | `L1M3N(C)` | $\frac12 \sum_k |w_k|$ | $C \sum_i \xi_i$ | a linear programme |

    (`LPStruct` is the second one with weights that may not be negative.) Both have the same constraints,
    and so the same oracle and the same cutting planes. Move $C$: on the left the star glides, on the right it
    stays in a corner and then jumps to the next.
    """)
    return


@app.cell
def choose_c(mo):
    C = mo.ui.slider(steps=[0.1, 0.2, 0.25, 0.3, 1.0, 3.0], value=0.2, label="C", show_value=True)
    C
    return (C,)


@app.cell(hide_code=True)
def moved(C, draw_both):
    draw_both(C.value)
    return


@app.cell(hide_code=True)
def vertices(mo):
    mo.md(r"""
    ## Corners, and why weights are zero

    A linear programme is solved in a **vertex**: a point at which as many constraints hold with equality as there
    are variables. Lines $w_k = 0$ count: they are the kinks of $|w_k|$. So with $d$ weights and only $m$ cuts
    that are tight, at least $d - m$ weights *must* be zero. Few examples, few tight cuts, few weights. The
    square has no kink at zero, and nothing holds a weight there.

    Chains with 30 inputs, of which 3 matter:
    """)
    return


@app.cell
def sparse_weights(Figure, np, so):
    chains, tags = so.datasets.make_chain_crf(
        n_examples=25, n_features=30, n_relevant=3, length=5, seed=1
    )
    chain = so.Chain().fitted(chains, tags)
    encoded_chains = so.DataSet.of(chain, chains, tags)
    squares = so.CuttingPlane(chain, so.M3N(C=0.5), encoded_chains, tol=1e-4).solve()
    absolute = so.CuttingPlane(
        chain, so.L1M3N(C=0.1), encoded_chains, backend="highs", tol=1e-6
    ).solve()
    _figure = Figure(figsize=(9, 3.2), layout="constrained")
    for _ax, _found, _name in zip(
        _figure.subplots(1, 2), (squares, absolute), ("M3N", "L1M3N"), strict=True
    ):
        _ax.stem(_found.weights, markerfmt=".", basefmt="0.7")
        _ax.set(
            title=f"{_name}: {np.count_nonzero(_found.weights)} of {len(_found.weights)} weights"
        )
    _figure
    return absolute, chain, encoded_chains, squares


@app.cell(hide_code=True)
def simplex(mo):
    mo.md(r"""
    ## Who solves it: the dual simplex method

    A simplex method walks from vertex to vertex along edges. Now add a cut: the vertex where we stood is
    cut off. Its *dual* is still a vertex, just not the best one any more, so the **dual simplex method** goes on from
    there, and a few steps lead to the next. That is made for cutting planes: HiGHS keeps its rows and its
    basis from round to round. An interior-point method (Clarabel, on the same linear master) comes through the middle of
    the polytope, and starts anew every time.
    """)
    return


@app.cell
def iterations(Figure, chain, encoded_chains, so):
    _ax = Figure(figsize=(6.4, 3.4), layout="constrained").subplots()
    for _backend, _colour in (("highs", "#0072b2"), ("clarabel", "#d55e00")):
        _run = so.CuttingPlane(chain, so.L1M3N(C=0.1), encoded_chains, backend=_backend, tol=1e-4)
        _history = _run.solve().history[1:]
        _steps = [r.iterations / max(r.cuts, 1) for r in _history]
        _ax.plot([r.round for r in _history], _steps, "o-", ms=3, color=_colour, label=_backend)
    _ax.set(xlabel="round", ylabel="iterations for each cut", yscale="log")
    _ax.legend(frameon=False)
    _ax.figure
    return


@app.cell(hide_code=True)
def costs(mo):
    mo.md(r"""
    (An iteration of the simplex method is a pivot, cheap and many; one of an interior-point method factorises
    a matrix, dear and few. What the picture shows is that the simplex method needs *fewer per cut as the run goes on*,
    because it starts close.)

    ## What it costs

    Vertices have a price: the master of a linear programme jumps from one end to the other while it knows little, because
    the far corner is as good as any. Look at how far the weights move from round to round.
    """)
    return


@app.cell
def jumps(Figure, encoded, lattice, np, so):
    _ax = Figure(figsize=(5.6, 3.0), layout="constrained").subplots()
    for _formulation, _backend in ((so.M3N(C=3.0), "clarabel"), (so.L1M3N(C=3.0), "highs")):
        _run = so.CuttingPlane(lattice, _formulation, encoded, backend=_backend, tol=1e-6)
        _w = np.array([r.weights for r in _run.solve().history])
        _moves = np.linalg.norm(np.diff(_w, axis=0), axis=1)
        _ax.plot(range(2, len(_w) + 1), _moves, "o-", label=type(_formulation).__name__)
    _ax.set(xlabel="round", ylabel="how far the weights moved")
    _ax.xaxis.get_major_locator().set_params(integer=True)
    _ax.legend(frameon=False)
    _ax.figure
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** The `absolute` run has certified weights. How many of them are not zero, in percent?
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(absolute, np):
    right_1 = 100 * np.mean(absolute.weights != 0)
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Ten examples, 1,000 weights, one slack each. In a vertex of the master at most how many weights can be other than
    zero, if 25 cuts are tight and all ten slacks are positive? (Each slack that is not zero uses up a tight cut, too.)
    """)
    return


@app.cell
def exercise_2():
    mine_2 = None
    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    # 1,010 variables need 1,010 equations: 25 cuts, no slack, so 985 weights at 0 at least
    right_2 = 1000 - (1000 + 10 - 25)
    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, right_2):
    Exercise(mine_2, right_2)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** A lower bound for the linear programme, as in lesson 4. The Lagrangian
    $\frac12 \sum_k |w_k| + \sum \alpha \, (\mathrm{loss} - w \cdot \delta)$ has a minimum only if no component of
    $v = \alpha \, \delta$ is larger than $\frac12$ in size; then that minimum is $\alpha \cdot \mathrm{loss}$, at $w = 0$. Given any
    $\alpha \ge 0$ (with sums at most $C$), scale it down just far enough and return the bound.
    """)
    return


@app.cell
def exercise_3():
    def mine_3(alpha, loss, delta):
        return None

    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(np):
    def right_3(alpha, loss, delta):
        largest = np.abs(alpha @ delta).max()
        return alpha @ loss * min(1.0, 0.5 / largest)

    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, np, right_3):
    def _check(answer):
        rng = np.random.default_rng(0)
        for size in (0.01, 1.0, 3.0):
            alpha, loss = size * rng.uniform(size=6), rng.integers(1, 5, size=6)
            delta = rng.normal(size=(6, 4))
            found = answer(alpha, loss, delta)
            if found is None:
                return "It returns None so far."
            if abs(found - right_3(alpha, loss, delta)) > 1e-9:
                return (
                    f"Wrong where the largest component of v is {np.abs(alpha @ delta).max():.2f}."
                )
        return True

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    A vertex is found by factorising matrices. Where they get too large there are methods that only multiply
    by them: lesson 6.
    """)
    return


if __name__ == "__main__":
    app.run()
