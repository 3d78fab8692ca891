import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 1: scores, losses, margins")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 1: scores, losses, margins

    Three kinds of points in the plane, and a machine that tells them apart. Each colour is a label, each
    region is where that label gets the highest *score*; the thin lines keep a distance from the
    borders, the *margin*, and the circled points are those that lie within it. By the end of this
    lesson you will know every word of the last sentence, and have written the margin yourself.
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
def data(np, so):
    points, y = so.datasets.make_classes(60, n_labels=3, n_features=2, separation=2.2, seed=5)
    X = np.column_stack([points, np.ones(60)])  # the third input is 1: an offset for every label
    return X, points, y


@app.cell(hide_code=True)
def drawing(Figure, np, points, so, y):
    COLOURS = ("#0072b2", "#e69f00", "#009e73")

    def draw(weights, *, margin=None, ax=None):
        """Draw the regions of three labels; lines where a label leads by `margin`."""
        W = np.asarray(weights).reshape(3, 3)
        ax = Figure(figsize=(5.4, 4.4), layout="constrained").subplots() if ax is None else ax
        low, high = points.min(axis=0) - 1, points.max(axis=0) + 1
        u, v = np.meshgrid(np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 240))
        scores = np.stack([a * u + b * v + c for a, b, c in W])
        best = scores.argmax(axis=0)
        ax.contourf(u, v, best, levels=[-0.5, 0.5, 1.5, 2.5], colors=COLOURS, alpha=0.18)
        ordered = np.sort(scores, axis=0)
        lead = ordered[-1] - ordered[-2]
        ax.contour(u, v, best, levels=[0.5, 1.5], colors="0.3", linewidths=1.2)
        given = np.column_stack([points, np.ones(len(points))])
        if margin is not None:
            ax.contour(u, v, lead, levels=[margin], colors="0.3", linewidths=0.7)
            own = (given @ W.T)[np.arange(len(y)), y]
            others = np.where(np.arange(3) == y[:, None], -np.inf, given @ W.T).max(axis=1)
            inside = own - others < margin - 1e-6
            ax.scatter(*points[inside].T, s=110, fc="none", ec="black", lw=1.0)
        ax.scatter(*points.T, s=22, c=[COLOURS[k] for k in y], edgecolors="white", linewidths=0.5)
        wrong = so.Multiclass().fitted(given, y).predict(given, W.reshape(-1)) != y
        ax.set_title(f"{int(np.sum(wrong))} of {len(y)} wrong", fontsize=10)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        return ax

    return (draw,)


@app.cell(hide_code=True)
def the_machine(X, draw, so, y):
    model = so.StructuredClassifier(so.Multiclass(), so.M3N(C=1.0)).fit(X, y)
    draw(model.result_.weights, margin=1.0).figure
    return (model,)


@app.cell(hide_code=True)
def about_scores(mo):
    mo.md(r"""
    ## Scores

    A label $y$ has weights $w_y$, one for every input, and the score $w_y \cdot x$. The label with
    the highest score wins:

    $$
    \hat y(x) = \arg\max_y \; w_y \cdot x .
    $$

    All weights together are one long vector $w$. Putting $x$ in the block of label $y$, and zeros
    elsewhere, gives the *joint features* $\phi(x, y)$, and the score is $w \cdot \phi(x, y)$. That
    seems a detour for three labels. But in this form an output may be anything that has features: a
    sentence's tags, a parse tree, a path. Nothing below will change when it is.
    """)
    return


@app.cell
def joint_features(X, model, np, y):
    structure = model.structure_
    print("phi(x, 1) =", np.round(structure.joint_features(X[0], 1).toarray()[0], 2))
    for _label in (0, 1, 2):
        _score = structure.joint_features(X[0], _label) @ model.result_.weights
        print(f"label {_label}: score {_score[0]:+.2f}", "<- right" if _label == y[0] else "")
    return (structure,)


@app.cell(hide_code=True)
def turning(mo):
    mo.md(r"""
    Turn the weights of one label (blue) round the origin, and see what its region does. No score means
    anything by itself: what decides is which one is *higher*, so that the border of two labels is
    where $(w_a - w_b) \cdot x = 0$.
    """)
    return


@app.cell
def choose_angle(mo):
    angle = mo.ui.slider(-90, 90, step=30, value=0, label="degrees", show_value=True)
    angle
    return (angle,)


@app.cell(hide_code=True)
def turned(angle, draw, model, np):
    _W = model.result_.weights.reshape(3, 3).copy()
    _t = np.radians(angle.value)
    _W[0, :2] = np.array([[np.cos(_t), -np.sin(_t)], [np.sin(_t), np.cos(_t)]]) @ _W[0, :2]
    draw(_W).figure
    return


@app.cell(hide_code=True)
def about_losses(mo):
    mo.md(r"""
    ## Losses, and why we do not minimise them

    The *loss* says what a wrong label costs: 1 by default, or whatever you like (`so.losses.Confusion`).
    It jumps: move a border a little and the loss does not change at all, until it does. Nobody can
    search downhill on steps. So we bound it from above by something with a slope. The **margin** of
    an example is how far the right label leads,

    $$
    \mathrm{margin}_i(w) = w \cdot \phi(x_i, y_i) - \max_{y \ne y_i} w \cdot \phi(x_i, y),
    $$

    and the **hinge** asks every wrong label to stay behind by its loss:

    $$
    \mathrm{hinge}_i(w) = \max_y \; [\, \mathrm{loss}(y_i, y) - w \cdot \delta_i(y) \,]_+,
    \qquad \delta_i(y) = \phi(x_i, y_i) - \phi(x_i, y) .
    $$

    It is never below the loss of the predicted label (which has $w \cdot \delta \le 0$), it is zero only
    if the right label leads by the whole loss, and it is convex: a maximum of functions that
    are linear in $w$.
    """)
    return


@app.cell
def hinge_and_loss(Figure, np):
    _m = np.linspace(-2, 3, 400)
    _ax = Figure(figsize=(5.2, 3.2), layout="constrained").subplots()
    _ax.plot(_m, _m <= 0, drawstyle="steps-mid", lw=2, color="#d55e00", label="loss (0 or 1)")
    _ax.plot(_m, np.maximum(0, 1 - _m), lw=2, color="#0072b2", label="hinge")
    _ax.axvline(0, color="0.8", lw=0.8)
    _ax.set(xlabel="margin", ylim=(-0.1, 3))
    _ax.legend(frameon=False)
    _ax.figure
    return


@app.cell(hide_code=True)
def about_c(mo):
    mo.md(r"""
    ## What is minimised

    Long weights make large margins for free, so length has its price:

    $$
    \min_w \; \frac{|w|^2}{2C} + \sum_i \mathrm{hinge}_i(w) .
    $$

    That is `M3N(C)`. Small $C$: short weights, a wide band in which many points lie. Large $C$: a
    narrow band and fewer points in it. The thin lines show where a label leads by 1; in the plane
    their distance is about $2 / |w_a - w_b|$, which is what "large margin" means.
    """)
    return


@app.cell
def choose_c(mo):
    C = mo.ui.slider(steps=[0.01, 0.03, 0.1, 0.3, 1.0, 10.0], value=0.1, label="C", show_value=True)
    C
    return (C,)


@app.cell(hide_code=True)
def bands(C, X, draw, so, y):
    _fit = so.StructuredClassifier(so.Multiclass(), so.M3N(C=C.value)).fit(X, y)
    draw(_fit.result_.weights, margin=1.0).figure
    return


@app.cell(hide_code=True)
def costs(mo):
    mo.md(r"""
    A dear mistake asks for a wider margin. Below, taking label 0 for another costs 5: the blue region
    grows, because every other label must now stay behind by 5 there.
    """)
    return


@app.cell
def dear_mistakes(Figure, X, draw, np, so, y):
    _costs = np.array([[0, 5, 5], [1, 0, 1], [1, 1, 0]])
    _figure = Figure(figsize=(9, 3.8), layout="constrained")
    for _ax, _loss in zip(_figure.subplots(1, 2), (None, so.losses.Confusion(_costs)), strict=True):
        _fit = so.StructuredClassifier(so.Multiclass(loss=_loss), so.M3N(C=0.1)).fit(X, y)
        draw(_fit.result_.weights, ax=_ax)
        _ax.set_xlabel("every mistake costs 1" if _loss is None else "losing a blue one costs 5")
    _figure
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** With the weights below, what is the score of label 2 at the point $(1, 2)$? Mind the offset.
    """)
    return


@app.cell
def exercise_1(np):
    some_weights = np.array([1.0, 0.0, 0.5, -1.0, 1.0, 0.0, 0.5, -2.0, 3.0])
    mine_1 = None
    return mine_1, some_weights


@app.cell(hide_code=True)
def answer_1(np, some_weights):
    right_1 = some_weights[6:] @ np.array([1.0, 2.0, 1.0])
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Write the margin: `W` holds the three rows $w_0, w_1, w_2$, `x` an input, `y` its label.
    """)
    return


@app.cell
def exercise_2():
    def mine_2(W, x, y):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2(np):
    def right_2(W, x, y):
        scores = W @ x
        return scores[y] - np.delete(scores, y).max()

    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, X, mine_2, model, right_2, y):
    def _check(answer):
        W = model.result_.weights.reshape(3, 3)
        for i in (0, 7, 20, 41):
            found, right = answer(W, X[i], y[i]), right_2(W, X[i], y[i])
            if found is None:
                return "It returns None so far."
            if abs(found - right) > 1e-9:
                return f"Example {i} has margin {right:.4f}, not {found:.4f}."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** For the fitted `model`, how large is the sum of all hinges? Its certificate knows
    the whole objective, `model.result_.certificate.primal`; what is left is a subtraction
    ($C = 1$).
    """)
    return


@app.cell
def exercise_3():
    mine_3 = None
    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(model):
    _w = model.result_.weights
    right_3 = model.result_.certificate.primal - _w @ _w / 2
    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, right_3):
    Exercise(mine_3, right_3)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    The hinge is a maximum over all wrong labels. Here there are two. A sentence of ten words with five tags
    has 9,765,624. Lesson 2 shows how that maximum is found without looking at them.
    """)
    return


if __name__ == "__main__":
    app.run()
