import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 9: saddle points")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 9: saddle points, or outputs as a polytope

    One word on the left, two on the right: it is aligned with the first, with the second, or with none. Three outputs, three corners
    of a triangle. Everything *between* them is a fractional alignment, and one may walk there. The arrows show the one tool that
    is needed: from any point, go to the **nearest** point of the triangle. On the right the labels of two pixels that
    would like to agree: four corners of a square, and the price of disagreeing.
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
def a_pair(np, so):
    # 1 x 2 words, two features an edge; the first edge is right
    x = np.array([[[1.0, 0.5], [0.6, 1.2]]])
    gold = {(0, 0)}
    matching = so.Matching().fitted([x], [gold])
    pair = so.DataSet.of(matching, [x], [gold])
    Z = pair.shards[0].relaxation()  # the outputs, as a polytope
    print("rows of Z:", Z.polytope().A.toarray().tolist(), "<=", Z.polytope().b.tolist())
    return Z, gold, matching, pair, x


@app.cell(hide_code=True)
def polytopes(Figure, Z, np):
    def triangle(ax):
        ax.fill([0, 1, 0], [0, 0, 1], color="#9ecae1", alpha=0.6)
        for corner, name in (((0, 0), "none"), ((1, 0), "first"), ((0, 1), "second")):
            ax.plot(*corner, "o", color="#0072b2", ms=8)
            ax.annotate(name, corner, xytext=(5, 6), textcoords="offset points", fontsize=9)
        ax.set(xlabel="first edge", ylabel="second edge", aspect="equal")

    _figure = Figure(figsize=(9.4, 4.2), layout="constrained")
    _left, _right = _figure.subplots(1, 2)
    triangle(_left)
    _rng = np.random.default_rng(1)
    for _a in _rng.uniform(-0.4, 1.5, size=(14, 2)):
        _p = Z.project(_a, error=1e-9).point
        _left.annotate("", _p, _a, arrowprops={"arrowstyle": "->", "color": "#d55e00", "lw": 1.2})
        _left.plot(*_a, ".", color="#d55e00")
    _left.set(title="matchings, and the nearest one", xlim=(-0.5, 1.6), ylim=(-0.5, 1.6))
    _u = np.linspace(0, 1, 60)
    _a, _b = np.meshgrid(_u, _u)
    _filled = _right.contourf(_a, _b, np.abs(_a - _b), levels=10, cmap="Oranges")
    for _corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        _right.plot(*_corner, "o", color="#0072b2", ms=8, clip_on=False)
    _right.set(title="cuts: s >= |z1 - z2|", xlabel="z1", ylabel="z2", aspect="equal")
    _figure.colorbar(_filled, ax=_right, shrink=0.8)
    _figure
    return (triangle,)


@app.cell(hide_code=True)
def inference(mo):
    mo.md(r"""
    ## The best output is a linear programme

    Write an output as a vector $z$ of zeros and ones, one for each part (edge, pixel label, ...). Scores are linear in it. For
    matchings "no word twice" is a row of sums $\le 1$, for cuts "$s$ is at least the difference". Their polytopes

    $$
    Z = \{ z \ge 0 : A z \le b \}
    $$

    have only corners that are outputs (bipartite matchings: Birkhoff; cuts: because cutting costs). So the best output is the solution of
    $\max_{z \in Z} (F^\top w) \cdot z$, and the most violated one that of $\max_{z \in Z} (F^\top w + c) \cdot z$, with the loss
    $d + c \cdot z$.

    ## And learning is a game

    Put that maximum into the learning problem, and it reads

    $$
    \min_w \; \max_{z_i \in Z_i} \;\; \frac{|w|^2}{2C} + \sum_i \; (F_i^\top w + c_i) \cdot z_i + d_i - w \cdot f_i(y_i) .
    $$

    One player chooses weights, the other fractional outputs: lesson 6 again, with a product of $w$ and $z$ in the middle. Look
    ahead, step, project $z$ back on $Z$. There is no master, and no cut.
    """)
    return


@app.cell
def the_game(Z, np):
    C = 4.0

    def slopes(w, z):
        down = w / C + Z.features(z) - Z.features(Z.gold)
        up = Z.scores(w) + Z.loss
        return -down, up

    def project(z):
        return Z.project(z, error=1e-9).point

    def step(w, z, eta=0.3):
        dw, dz = slopes(w, z)
        dw, dz = slopes(w + eta * dw, project(z + eta * dz))
        return w + eta * dw, project(z + eta * dz)

    def play(n):
        w, z = np.array([-1.0, 1.0]), np.array([0.0, 0.0])
        points = [(w, z)]
        for _ in range(n):
            w, z = step(w, z)
            points.append((w, z))
        return points

    return C, play, project


@app.cell(hide_code=True)
def dual_value(C, Z, np):
    def P(w):
        """The objective: the inner maximum is at a corner, one of none, first, second."""
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        best = max((Z.scores(w) + Z.loss) @ z for z in corners)
        return w @ w / (2 * C) + best + Z.loss_constant[0] - w @ Z.features(Z.gold)

    return (P,)


@app.cell(hide_code=True)
def about_game(mo):
    mo.md(r"""
    Move through the steps. Weights on the left, with the objective $P(w)$ as level lines; the alignment on the right. Both settle
    down. The solution $z$ is *not* a corner: at the best weights all three outputs are equally good answers of the oracle, and $z$
    says how the blame is divided. They are the multipliers of lesson 4, seen from the side of outputs.
    """)
    return


@app.cell
def choose_steps(mo):
    steps = mo.ui.slider(steps=[2, 5, 10, 20, 40, 120], value=10, label="steps", show_value=True)
    steps
    return (steps,)


@app.cell(hide_code=True)
def spirals(Figure, P, np, play, steps, triangle):
    _w, _z = (np.array(points) for points in zip(*play(steps.value), strict=True))
    _figure = Figure(figsize=(9.4, 4.2), layout="constrained")
    _left, _right = _figure.subplots(1, 2)
    _u, _v = np.linspace(-1.5, 3.5, 50), np.linspace(-3, 2, 50)
    _height = np.array([[P(np.array([a, b])) for a in _u] for b in _v])
    _left.contourf(_u, _v, _height, levels=14, cmap="Blues", alpha=0.6)
    _left.plot(*_w.T, "o-", ms=3, lw=0.9, color="0.2")
    _left.plot(*_w[-1], "*", ms=13, color="#e69f00", mec="black")
    _left.set(title=f"weights: P = {P(_w[-1]):.3f}", xlabel="w1", ylabel="w2")
    triangle(_right)
    _right.plot(*_z.T, "o-", ms=3, lw=0.9, color="0.2")
    _right.plot(*_z[-1], "*", ms=13, color="#e69f00", mec="black", zorder=5)
    _right.set(title=f"z = ({_z[-1][0]:.2f}, {_z[-1][1]:.2f})", xlim=(-0.1, 1.2), ylim=(-0.1, 1.2))
    _figure
    return


@app.cell(hide_code=True)
def the_library(mo):
    mo.md(r"""
    ## In the library

    `method="extragradient"` plays this game for all examples at once, with steps and a balance between the players that
    adapt, and a certificate: $P$ by an exact oracle, and a lower bound $D(z)$ from any point of $Z$ (exercise 2). It reaches the same
    optimum as cutting planes. Where projections are cheap and passes many, it wins; where the oracle finds good cuts
    quickly, they do.
    """)
    return


@app.cell
def same_optimum(so):
    X, Y = so.datasets.make_alignments(25, mean_edges=30, signal=1.0, seed=3)
    for _method in ("extragradient", "cutting-plane"):
        _model = so.StructuredClassifier(so.Matching(), so.M3N(C=0.1), method=_method, tol=1e-3)
        _found = _model.fit(X[:20], Y[:20]).result_
        print(f"{_method:14} {_found.certificate.primal:.4f}, {_found.certificate}")
    aligned = _model.predict(X[20:])
    return X, Y, aligned


@app.cell
def an_alignment(X, Y, aligned, so):
    _k = max(range(5), key=lambda k: len(Y[20 + k]))
    so.draw.structure(X[20 + _k], Y[20 + _k], aligned[_k]).figure
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** Project $(0.9, 0.7)$ on the triangle by hand. (Both coordinates are too large by the same amount.)
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None  # (first, second)
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(np):
    right_1 = np.array([0.9, 0.7]) - (0.9 + 0.7 - 1.0) / 2
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** A lower bound from any $z \in Z$: the $w$ that minimises the game's function for this $z$ is $w = -C g$ with
    $g = F z - f(y)$, and the value there is $c \cdot z + d - \frac{C}{2} |g|^2$. Write it with `Z.features(z)`, `Z.features(Z.gold)`, `Z.loss` and
    `Z.loss_constant[0]`.
    """)
    return


@app.cell
def exercise_2():
    def mine_2(z, Z, C):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    def right_2(z, Z, C):
        g = Z.features(z) - Z.features(Z.gold)
        return Z.loss @ z + Z.loss_constant[0] - C / 2 * g @ g

    return (right_2,)


@app.cell(hide_code=True)
def check_2(C, Exercise, Z, mine_2, np, right_2):
    def _check(answer):
        for z in np.array([[0.0, 0.0], [0.2, 0.5], [1.0, 0.0]]):
            found = answer(z, Z, C)
            if found is None:
                return "It returns None so far."
            if abs(found - right_2(z, Z, C)) > 1e-9:
                return f"At z = {z} the bound is {right_2(z, Z, C):.4f}, not {found:.4f}."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** Corners are outputs because left and right are two sides. Take three people of whom each may dance with each, every pair
    scoring 1: at most one pair can dance. What is the largest value of $z_{12} + z_{13} + z_{23}$ if every person's sum is at most
    1 and $z \ge 0$?
    """)
    return


@app.cell
def exercise_3():
    mine_3 = None
    return (mine_3,)


@app.cell(hide_code=True)
def answer_3():
    right_3 = 3 * 0.5  # every pair half: a corner that is no matching
    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, right_3):
    Exercise(mine_3, right_3)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    The last lesson restricts outputs by rules of your own, and asks when learning should know of them.
    """)
    return


if __name__ == "__main__":
    app.run()
