import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 6: the extragradient method")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 6: the extragradient method

    Two players share one function, $f(x, y) = x \, y$. One moves $x$ to make it small, the other $y$ to make it large.
    Each follows its own slope, and they run round in circles that get *larger*. The second pair looks one
    step ahead before it moves, and spirals in. The third pulls back to where it began, a little less in every step. That is
    all there is between a method that fails and one that solves linear programmes with millions of rows.
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
def three_methods(np):
    def slopes(z):
        """x goes down its slope, y goes up its own: f(x, y) = x y."""
        x, y = z
        return np.array([-y, x])

    def gradient(z, eta):
        return z + eta * slopes(z)

    def extragradient(z, eta):
        ahead = z + eta * slopes(z)
        return z + eta * slopes(ahead)

    def path(step, eta, n, start=(1.0, 0.0)):
        points = [np.array(start)]
        for _ in range(n):
            points.append(step(points[-1], eta))
        return np.array(points)

    def halpern(eta, n, start=(1.0, 0.0)):
        z = anchor = np.array(start)
        points = [z]
        for k in range(n):
            z = (k + 1) / (k + 2) * extragradient(z, eta) + 1 / (k + 2) * anchor
            points.append(z)
        return np.array(points)

    return extragradient, gradient, halpern, path, slopes


@app.cell(hide_code=True)
def three_spirals(Figure, extragradient, gradient, halpern, path):
    def draw_spirals(eta, n=60):
        figure = Figure(figsize=(9.6, 3.4), layout="constrained")
        paths = {
            "gradient steps": path(gradient, eta, n),
            "extragradient": path(extragradient, eta, n),
            "extragradient and Halpern": halpern(eta, n),
        }
        for ax, (name, points) in zip(figure.subplots(1, 3), paths.items(), strict=True):
            ax.plot(*points.T, "o-", ms=2.5, lw=0.8, color="#0072b2")
            ax.plot(0, 0, "*", ms=13, color="#e69f00", mec="black")
            far = (points[-1] @ points[-1]) ** 0.5
            ax.set(title=f"{name}\n{far:.3g} away after {n} steps", xlim=(-2, 2), ylim=(-2, 2))
            ax.set(xlabel="x", aspect="equal")
        return figure

    draw_spirals(0.2)
    return (draw_spirals,)


@app.cell(hide_code=True)
def why(mo):
    mo.md(r"""
    ## Why gradient steps fail

    The slope at $(x, y)$ is $(-y, x)$: at a right angle to the way to the solution $(0, 0)$. A step along it always leads
    *outwards*: its squared length grows by the factor $1 + \eta^2$, however small $\eta$ is.

    Looking ahead turns the arrow inwards. The slope at the predicted point, $(-y - \eta x, x - \eta y)$, has a part
    $-\eta (x, y)$ that points home, and the factor becomes $1 - \eta^2 + \eta^4$: less than 1 for every $\eta < 1$, and just 1 at
    $\eta = 1$, where the method circles for ever. That is why step sizes stay strictly below one over the matrix's norm.
    """)
    return


@app.cell
def choose_step(mo):
    step_size = mo.ui.slider(
        steps=[0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0], value=0.4, label="step", show_value=True
    )
    step_size
    return (step_size,)


@app.cell(hide_code=True)
def moved_spirals(draw_spirals, step_size):
    draw_spirals(step_size.value)
    return


@app.cell(hide_code=True)
def programmes(mo):
    mo.md(r"""
    ## Linear programmes are such games

    Take $\min c \cdot x$ with $A x \ge b$, $x \ge 0$, the kind of master that lesson 5 made. Give every row a price
    $y \ge 0$ for being short:

    $$
    \min_{x \ge 0} \; \max_{y \ge 0} \;\; c \cdot x + y \cdot (b - A x) .
    $$

    Linear in $x$, linear in $y$, with a product between them: the picture above in many dimensions. Steps cost two
    multiplications by $A$ each, no matrix is ever factorised, and what leaves $x \ge 0$ is put back.

    $$
    \bar x = [x - \eta \, (c - A^\top y)]_+, \quad \bar y = [y + \eta \, (b - A x)]_+, \quad
    \text{then from } (x, y) \text{ with the slopes at } (\bar x, \bar y) .
    $$
    """)
    return


@app.cell
def a_programme(np):
    # buy food: two kinds, three needs; the optimum is a vertex
    A = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 1.0]])
    b, c = np.array([4.0, 6.0, 3.0]), np.array([1.0, 1.2])

    def lp_slopes(x, y):
        return -(c - A.T @ y), b - A @ x

    def lp_step(x, y, eta):
        dx, dy = lp_slopes(x, y)
        ahead = np.maximum(x + eta * dx, 0), np.maximum(y + eta * dy, 0)
        dx, dy = lp_slopes(*ahead)
        return np.maximum(x + eta * dx, 0), np.maximum(y + eta * dy, 0)

    eta_0 = 0.9 / np.linalg.norm(A, 2)
    x, y = np.zeros(2), np.zeros(3)
    track = [(c @ x, b @ y)]
    for _ in range(2000):
        x, y = lp_step(x, y, eta_0)
        track.append((c @ x, b @ y))
    print("x =", x.round(4), " cost", round(c @ x, 4))
    print("y =", y.round(4), " worth", round(b @ y, 4))
    return A, b, c, eta_0, lp_step, track


@app.cell(hide_code=True)
def the_spiral(Figure, np, track):
    _ax = Figure(figsize=(4.8, 4.2), layout="constrained").subplots()
    _ax.plot(*np.array(track[:400]).T, "-", lw=0.9, color="#0072b2")
    _ax.axline((3.3, 3.3), slope=1, color="0.7", lw=0.8)
    _ax.plot(*track[-1], "*", ms=13, color="#e69f00", mec="black")
    _ax.set(
        xlabel="primal objective", ylabel="dual objective", title="both objectives, step by step"
    )
    _ax.figure
    return


@app.cell(hide_code=True)
def spiral_text(mo):
    mo.md(r"""
    Primal and dual objective circle round the point where they meet, as in the first figure of Wang and
    Shawe-Taylor (2009). On the way both are infeasible: the primal is sometimes *below* the dual, so the difference of
    the two proves nothing. (Their paper stops at it. The library does not: lesson 4 says what a bound is.)

    ## Restarts, and what Halpern does

    Spirals waste their time on going round. Two cures:

    * **average** over a turn, or **restart**: once the error has fallen by a fixed share, forget the past and begin anew from
      here. Every restart wins the same factor, so the error falls like a geometric series.
    * **Halpern**: pull every iterate back to the anchor by $1 / (k + 2)$. The early steps hardly move, and the circles
      cancel. Alone it gets close quickly and then slows down (its anchor is far); with restarts, which move
      the anchor, it is hard to beat.

    Compare the distance to the solution of the game $x\,y$:
    """)
    return


@app.cell
def restarted(Figure, extragradient, halpern, np, path):
    def with_restarts(eta, n, every):
        points = [np.array([1.0, 0.0])]
        while len(points) <= n:
            points.extend(halpern(eta, every, start=points[-1])[1:])
        return np.array(points[: n + 1])

    _ax = Figure(figsize=(6.2, 3.4), layout="constrained").subplots()
    for _name, _points in {
        "extragradient": path(extragradient, 0.2, 300),
        "Halpern": halpern(0.2, 300),
        "Halpern, restarted every 30": with_restarts(0.2, 300, 30),
    }.items():
        _ax.semilogy(np.linalg.norm(_points, axis=1), label=_name)
    _ax.set(xlabel="step", ylabel="distance")
    _ax.legend(frameon=False)
    _ax.figure
    return (with_restarts,)


@app.cell(hide_code=True)
def the_library(mo):
    mo.md(r"""
    ## In the library

    `backend="extragradient"` solves masters so: scaled rows, alternating steps, Halpern with restarts, a weight
    between both players that is tuned at restarts, and a certificate in the end. Its variants leave things out, so
    that you can see what they are for: `"paper"` is the fixed step of the paper, `"korpelevich"` the textbook's.
    """)
    return


@app.cell
def masters(so):
    points, label = so.datasets.make_classes(15, n_features=2, separation=2.0, seed=0)
    structure = so.Multiclass().fitted(points, label)
    encoded = so.DataSet.of(structure, points, label)
    for _variant in ("paper", "korpelevich", "alternating"):
        _run = so.CuttingPlane(
            structure, so.LPStruct(C=0.3), encoded, tol=1e-2, max_iter=40,
            backend=so.ExtragradientBackend(variant=_variant),
        )  # fmt: skip
        _result = _run.solve()
        _steps = sum(r.iterations for r in _result.history)
        print(f"{_variant:12} {_steps:7,} steps: {_result.status}, {_result.certificate}")
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** Gradient steps with $\eta = 0.1$ on $x \, y$ from $(1, 0)$: how far from the solution after 100 steps? (No loop needed.)
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1():
    right_1 = (1 + 0.1**2) ** (100 / 2)
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Write the extragradient step for any slopes: `slopes(z)` returns where a point wants to go, and `eta` is the step.
    """)
    return


@app.cell
def exercise_2():
    def mine_2(z, slopes, eta):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    def right_2(z, slopes, eta):
        return z + eta * slopes(z + eta * slopes(z))

    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, np, right_2):
    def _check(answer):
        turn = np.array([[0.2, -1.0], [1.0, 0.1]])
        for z in np.array([[1.0, 0.0], [0.3, -2.0]]):
            found = answer(z, lambda p: turn @ p - 1.0, 0.3)
            if found is None:
                return "It returns None so far."
            if not np.allclose(found, right_2(z, lambda p: turn @ p - 1.0, 0.3)):
                return "Not yet: predict first, then step from the OLD point with the new slopes."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** A lower bound on the food's cost (`A`, `b`, `c` above) from prices $y$ that are almost right: scale them down until
    $A^\top y \le c$ holds, and return $b \cdot y$. It must be a bound for *any* $y \ge 0$.
    """)
    return


@app.cell
def exercise_3():
    def mine_3(y, A, b, c):
        return None

    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(np):
    def right_3(y, A, b, c):
        return b @ y / max(1.0, np.max(A.T @ y / c))

    return (right_3,)


@app.cell(hide_code=True)
def check_3(A, Exercise, b, c, mine_3, np, right_3):
    def _check(answer):
        for y in np.array([[0.3, 0.2, 0.1], [5.0, 0.0, 1.0], [0.1, 0.1, 0.0]]):
            found = answer(y, A, b, c)
            if found is None:
                return "It returns None so far."
            if abs(found - right_3(y, A, b, c)) > 1e-9:
                return f"At y = {y} the bound is {right_3(y, A, b, c):.4f}, not {found:.4f}."
        return True

    Exercise(mine_3, right_3, _check)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    The same game with outputs as one of the players is lesson 9. First, lesson 7 asks whether the largest margin is
    what one should want.
    """)
    return


if __name__ == "__main__":
    app.run()
