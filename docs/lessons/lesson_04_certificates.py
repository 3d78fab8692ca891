import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 4: duality and certificates")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 4: duality and certificates

    How do you know that weights are the best ones, if nobody can look at all the others? Below, the
    dark curve is what we minimise. Somebody hands us a single number, a *multiplier*, and out of it comes a
    parabola that lies below the curve **everywhere**. So its lowest point is a bound that no weights can
    beat, whoever chose the number and why. In this lesson you build such a bound by hand, and then
    you try to fool it.
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


@app.cell(hide_code=True)
def one_weight(Figure, np):
    # one weight, three examples with one wrong output each: w.delta >= loss - xi
    delta_1, loss_1 = np.array([1.0, 0.6, -0.4]), np.array([1.0, 2.0, 1.0])

    def draw_bound(share, C=2.0):
        """Draw P(w) and the Lagrangian with the same multiplier for every example."""
        w = np.linspace(-2.5, 5.5, 400)
        hinge = np.maximum(loss_1[:, None] - delta_1[:, None] * w, 0.0).sum(axis=0)
        pulled = share * (loss_1[:, None] - delta_1[:, None] * w).sum(axis=0)
        P, L = w**2 / (2 * C) + hinge, w**2 / (2 * C) + pulled
        ax = Figure(figsize=(5.6, 3.6), layout="constrained").subplots()
        ax.plot(w, P, color="0.15", lw=2, label="P(w)")
        ax.plot(w, L, color="#0072b2", lw=1.6, label=f"with multipliers {share:g}")
        ax.plot(w[L.argmin()], L.min(), "o", color="#0072b2")
        ax.axhline(L.min(), color="#0072b2", lw=0.8, ls="--")
        ax.plot(w[P.argmin()], P.min(), "*", ms=13, color="#e69f00", mec="black")
        ax.set(xlabel="w", ylim=(-0.5, 8), title=f"{L.min():.2f} <= optimum = {P.min():.2f}")
        ax.legend(frameon=False, loc="upper center")
        return ax

    return delta_1, draw_bound, loss_1


@app.cell
def a_bound(draw_bound):
    draw_bound(0.5).figure
    return


@app.cell(hide_code=True)
def why(mo):
    mo.md(r"""
    ## Why it lies below

    A hinge is the largest of all these lines, and 0:

    $$
    \max_y \; [\mathrm{loss}_i(y) - w \cdot \delta_i(y)]_+
    \;\ge\; \sum_y \alpha_{iy} \, (\mathrm{loss}_i(y) - w \cdot \delta_i(y))
    $$

    for any weights $\alpha_{iy} \ge 0$ with $\sum_y \alpha_{iy} \le 1$, because an average is never above the
    maximum. Put that in for every example, and $P(w) = |w|^2 / (2C) + \sum_i \mathrm{hinge}_i(w)$ turns into a
    parabola below it, the **Lagrangian**. Its minimum is where its slope is zero,
    $w = C \sum \alpha \delta$, and has the value

    $$
    D(\alpha) = \sum_{i, y} \alpha_{iy} \, \mathrm{loss}_i(y)
    - \frac{C}{2} \, \Big| \sum_{i, y} \alpha_{iy} \, \delta_i(y) \Big|^2 .
    $$

    $D(\alpha) \le \min_w P(w)$ for *every* such $\alpha$; the best $\alpha$ makes them equal (that is *strong duality*).
    Move the multiplier: at 0 the bound is empty, at 1 every example pulls with all it has. Where is
    the parabola highest?
    """)
    return


@app.cell
def choose_multiplier(mo):
    multiplier = mo.ui.slider(0.0, 1.0, step=0.125, value=0.25, label="multiplier", show_value=True)
    multiplier
    return (multiplier,)


@app.cell(hide_code=True)
def moved_bound(draw_bound, multiplier):
    draw_bound(multiplier.value).figure
    return


@app.cell(hide_code=True)
def by_hand(mo):
    mo.md(r"""
    ## By hand, on the lattices of lesson 3

    The run of lesson 3 stopped with a lower and an upper bound. The master's solver returned a
    multiplier for each cut; they stand in the pool. Nothing else is needed: losses, directions, and the
    formula for $D$.
    """)
    return


@app.cell
def the_run(np, so):
    _drawn = so.datasets.make_lattices(
        3, n_columns=3, width=3, n_features=2, n_references=1, noise=0.5, seed=1
    )
    X, Y = _drawn.X, [paths[0] for paths in _drawn.Y]
    structure = so.Lattice().fitted(X, Y)
    encoded = so.DataSet.of(structure, X, Y)
    C = 3.0
    run = so.CuttingPlane(structure, so.M3N(C), encoded, backend="clarabel", tol=1e-6)
    certificate = run.solve().certificate

    cuts = run.master.pool.cuts
    example, loss, delta = cuts.example.copy(), cuts.loss.copy(), cuts.deltas(2).toarray()
    alpha = np.maximum(cuts.multiplier, 0.0)

    def D(alpha):
        return alpha @ loss - C / 2 * np.sum((alpha @ delta) ** 2)

    print("sums of each example's multipliers:", np.bincount(example, alpha).round(6))
    print(f"by hand:         D = {D(alpha):.6f}")
    print(f"the certificate: D = {certificate.dual:.6f} <= optimum <= {certificate.primal:.6f}")
    return C, D, X, Y, alpha, certificate, delta, encoded, example, loss, structure


@app.cell(hide_code=True)
def sums(mo):
    mo.md(r"""
    Solvers err. If an example's multipliers sum to more than 1 the argument above breaks, and $D$ might be
    too high. So the library never takes them as they come: it repairs them first (here: divide them by
    their sum), and only then computes $D$. The upper bound is no solver's word either. It is $P$ at the weights, with the
    hinges from an exact oracle.

    ## Try to fool it: bad multipliers

    Take multipliers at random, repaired so that their sums are at most 1. Each gives a bound. Some are
    miserable, most are useless, and not one is above the optimum.
    """)
    return


@app.cell
def random_multipliers(C, D, Figure, certificate, example, loss, np):
    def repaired(alpha):
        alpha = np.maximum(alpha, 0.0)
        total = np.bincount(example, alpha)
        return alpha / np.maximum(total, 1.0)[example]

    _rng = np.random.default_rng(0)
    _bounds = [D(repaired(_rng.exponential(0.4, size=len(loss)))) for _ in range(3000)]
    _ax = Figure(figsize=(5.6, 3.0), layout="constrained").subplots()
    _ax.hist(_bounds, bins=80, color="#56b4e9")
    _ax.axvline(certificate.primal, color="#d55e00", lw=2, label="the optimum")
    _ax.set(xlabel=f"bound from random multipliers (C = {C:g})", yticks=[])
    _ax.legend(frameon=False, loc="upper left")
    assert max(_bounds) <= certificate.primal
    _ax.figure
    return (repaired,)


@app.cell(hide_code=True)
def bad_solver(mo):
    mo.md(r"""
    ## Try to fool it: a sloppy solver

    Here is a backend that solves the master well and then spoils what it found: weights and multipliers
    are off by up to 30%. The run gets worse. Its certificate does not lie about that.
    """)
    return


@app.cell
def a_sloppy_backend(certificate, encoded, np, so, structure):
    from dataclasses import replace

    class Sloppy(so.Clarabel):
        """Clarabel, and then noise."""

        name = "sloppy"

        def solve(self, *args, **kwargs):
            found = super().solve(*args, **kwargs)
            noise = np.random.default_rng(len(found.cut_duals)).uniform
            x = found.x * noise(0.7, 1.3, size=len(found.x))
            duals = found.cut_duals * noise(0.7, 1.3, size=len(found.cut_duals))
            return replace(found, x=x, cut_duals=duals)

    sloppy = so.CuttingPlane(structure, so.M3N(3.0), encoded, backend=Sloppy(), max_iter=12).solve()
    print(f"{sloppy.status}: {sloppy.certificate}")
    print(
        f"{sloppy.certificate.dual:.3f} <= {certificate.primal:.3f} <= {sloppy.certificate.primal:.3f}"
    )
    assert sloppy.certificate.dual <= certificate.primal <= sloppy.certificate.primal + 1e-6
    return


@app.cell(hide_code=True)
def bad_oracle(mo):
    mo.md(r"""
    ## Try to fool it: a lying oracle

    The upper bound rests on the oracle: if it says that nothing is violated, hinges look like zero. So lie to
    the library: this structure's `argmax` finds the most violated path and then keeps it to itself in every
    second question.
    """)
    return


@app.cell
def a_liar(X, Y, so):
    class Liar(so.Lattice):
        """Says now and then that gold is the best it could find."""

        asked = 0

        def argmax(self, x, weights, *, gold=None):
            type(self).asked += 1
            honest = super().argmax(x, weights, gold=gold)
            return gold if gold is not None and type(self).asked % 2 else honest

    _model = so.StructuredClassifier(Liar(), so.M3N(3.0), backend="clarabel", tol=1e-6)
    try:
        _model.fit(X, Y)
    except so.errors.StructoptError as error:
        print(f"{type(error).__name__}: {error}")
    return


@app.cell(hide_code=True)
def caught(mo):
    mo.md(r"""
    It is caught by an output that it gave away itself: an answer that is worse than one that is known already
    cannot be the best. Where that does not show, a lower bound above the upper one does, and that
    is an error, never a certificate. (`so.audit` looks closer still. A liar who is careful enough to be wrong on one
    example only, and always, can pass; nothing but an exact oracle proves anything.)
    """)
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** One weight, as in the first picture: three examples with $\delta = (1, 0.6, -0.4)$ (`delta_1`), losses
    $(1, 2, 1)$ (`loss_1`), $C = 2$. What is $D$ for $\alpha = (0.5, 1, 0)$?
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(delta_1, loss_1, np):
    _alpha = np.array([0.5, 1.0, 0.0])
    right_1 = _alpha @ loss_1 - 2.0 / 2 * (_alpha @ delta_1) ** 2
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** From multipliers to weights: return the $w$ at which the Lagrangian of the lattices is smallest
    (`delta` has a row for each cut, `C` is 3).
    """)
    return


@app.cell
def exercise_2():
    def mine_2(alpha, delta, C):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    def right_2(alpha, delta, C):
        return C * alpha @ delta

    return (right_2,)


@app.cell(hide_code=True)
def check_2(C, Exercise, alpha, delta, mine_2, np, right_2):
    def _check(answer):
        found = answer(alpha, delta, C)
        if found is None:
            return "It returns None so far."
        return bool(np.allclose(found, right_2(alpha, delta, C), atol=1e-6))

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** Find good multipliers without a solver. At multipliers $\alpha$ the weights are $w = C \, \alpha \, \delta$
    (exercise 2). Let every example answer with its most violated cut there, as a vector that is 1 at these cuts
    and 0 elsewhere, and move $\alpha$ a little towards it: by the share $2 / (k + 2)$ in step $k = 0, 1, 2, \dots$ Return an
    $\alpha$ with $D(\alpha)$ within 1% of the optimum (14.91). Three thousand steps will do. (The method has a
    name: Frank and Wolfe.)
    """)
    return


@app.cell
def exercise_3():
    def mine_3(example, loss, delta, C):
        return None

    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(np):
    def right_3(example, loss, delta, C):
        alpha = np.zeros(len(loss))
        for k in range(3000):
            violation = loss - delta @ (C * alpha @ delta)
            answer = np.zeros(len(loss))
            for i in range(3):
                worst = np.where(example == i, violation, -np.inf).argmax()
                answer[worst] = violation[worst] > 0
            alpha += 2 / (k + 2) * (answer - alpha)
        return alpha

    return (right_3,)


@app.cell(hide_code=True)
def check_3(C, D, Exercise, certificate, delta, example, loss, mine_3, np, right_3):
    def _check(answer):
        found = answer(example, loss, delta, C)
        if found is None:
            return "It returns None so far."
        found = np.asarray(found, dtype=float)
        if found.min() < 0 or np.bincount(example, found).max() > 1 + 1e-9:
            return "These multipliers are negative, or an example's sum to more than 1."
        if D(found) < 0.99 * certificate.primal:
            return f"D is {D(found):.3f} so far."
        return True

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    Every `Result` carries such a pair of bounds, `result.certificate`, whoever solved the master. Lesson 5 changes
    what is minimised: a sum of absolute values instead of squares, and with it everything that a master
    looks like.
    """)
    return


if __name__ == "__main__":
    app.run()
