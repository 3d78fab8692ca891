import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 10: constrained output")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 10: constrained output, and when learning should know of it

    Five questions, each answered yes or no, and a rule that says which of the 32 combinations can be true. You may ignore the rule
    (**LO**, learning only), use it when you predict (**L+I**, learning plus inference), or when you learn, too
    (**IBT**, inference based training). Below, the share of right answers against the number of examples: on the left every question is easy by
    itself, on the right it is not. Who wins depends on that, and on how much data there is.
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
def schemes(so):
    COLOURS = {"LO": "0.55", "L+I": "#0072b2", "IBT": "#d55e00"}

    def draw_data(kappa, seed=2):
        """kappa: how often the questions' own answers break the rule."""
        return so.datasets.make_constrained_labels(1000, n_inputs=10, kappa=kappa, seed=seed)

    def score(scheme, data, n):
        learner = so.ConstraintScheme(scheme, so.LabelVector(data.legal), max_iter=15)
        return learner.fit(data.X[:n], data.Y[:n]).score(data.X[600:], data.Y[600:])

    return COLOURS, draw_data, score


@app.cell(hide_code=True)
def curves(COLOURS, Figure, draw_data, score):
    sizes = (15, 40, 120, 400)
    _figure = Figure(figsize=(8.6, 3.6), layout="constrained")
    for _ax, _kappa in zip(_figure.subplots(1, 2, sharey=True), (0.0, 1.0), strict=True):
        _data = draw_data(_kappa)
        for _scheme, _colour in COLOURS.items():
            _scores = [score(_scheme, _data, n) for n in sizes]
            _ax.semilogx(sizes, _scores, "o-", ms=4, color=_colour, label=_scheme)
        _ax.set(title=f"kappa = {_kappa:g}", xlabel="training examples")
        _ax.set_xticks(sizes, labels=sizes)
        _ax.minorticks_off()
        _ax.legend(frameon=False, loc="lower right")
    _figure
    return


@app.cell(hide_code=True)
def setting(mo):
    mo.md(r"""
    ## The setting

    An output is a vector $y$ of five bits. Each bit has its own inputs $x_t$ and its own score, so without a rule the best output
    answers each question alone:

    $$
    \hat y = \arg\max_{y \in \{0, 1\}^5} \; \sum_t f_{y_t}(x, t) .
    $$

    The rule is a set $\mathcal C$ of legal vectors. Inference looks for the best *legal* one: $\arg\max_{y \in \mathcal C}$. It may change an
    answer that looked good because three others contradict it. In the library the structure knows the rule:
    `so.LabelVector(legal)`, here with 16 of the 32 vectors.
    """)
    return


@app.cell
def one_example(draw_data, so):
    data = draw_data(0.5)
    print("legal:", ["".join(map(str, y)) for y in data.legal])
    free = so.ConstraintScheme("LO", so.LabelVector(data.legal), max_iter=15)
    free.fit(data.X[:400], data.Y[:400])
    bound = so.ConstraintScheme("L+I", so.LabelVector(data.legal), max_iter=15)
    bound.fit(data.X[:400], data.Y[:400])
    illegal = [i for i, y in enumerate(free.predict(data.X[600:])) if tuple(y) not in data.legal]
    print(f"LO predicts something impossible for {len(illegal)} of 400 new examples")
    return bound, data, free, illegal


@app.cell(hide_code=True)
def what_inference_does(Figure, bound, data, free, illegal, np):
    _shown = [600 + i for i in illegal[:10]]
    _rows = {"gold": [data.Y[i] for i in _shown], "LO": free.predict(data.X[_shown]),
             "L+I": bound.predict(data.X[_shown])}  # fmt: skip
    _figure = Figure(figsize=(8.6, 2.8), layout="constrained")
    for _ax, (_name, _outputs) in zip(_figure.subplots(1, 3), _rows.items(), strict=True):
        _y = np.array([list(y) for y in _outputs])
        _ax.imshow(_y.T, cmap="Blues", vmin=-0.3, vmax=1.5)
        _wrong = np.argwhere(_y != np.array([list(y) for y in _rows["gold"]]))
        _ax.plot(*_wrong.T, "x", color="#d55e00", ms=8, mew=2)
        _ax.set(
            title=f"{_name}: {len(_wrong)} wrong", xticks=[], yticks=range(5), xlabel="examples"
        )
    _figure
    return


@app.cell(hide_code=True)
def about_inference(mo):
    mo.md(r"""
    These are ten new examples that LO answers with something impossible (crosses are wrong answers). Inference repairs many of
    them, but not for nothing: where the scores point the wrong way, the nearest legal vector can be worse.

    ## Learning with the rule

    L+I learns every question *alone*, as if there were no rule. If the question's own inputs do not separate its answers, that
    cannot work, however many examples there are. IBT learns weights of which only the *legal argmax* must be right: it
    need not answer a question alone that the rule answers for it. It has fewer demands, so that it can be right where no local
    classifier is; but it learns 5 questions at once from one signal, and needs more examples for that.

    `kappa` is the share of examples whose own (true) local answers break the rule. Move it, for 200 examples.
    """)
    return


@app.cell
def choose_kappa(mo):
    kappa = mo.ui.slider(0.0, 1.0, step=0.25, value=0.5, label="kappa", show_value=True)
    kappa
    return (kappa,)


@app.cell(hide_code=True)
def bars(COLOURS, Figure, draw_data, kappa, score):
    _data = draw_data(kappa.value)
    _ax = Figure(figsize=(4.6, 3.2), layout="constrained").subplots()
    _scores = {name: score(name, _data, 200) for name in COLOURS}
    _bars = _ax.bar(_scores.keys(), _scores.values(), color=COLOURS.values())
    _ax.bar_label(_bars, fmt="%.2f")
    _ax.set(ylim=(0.5, 1.05), ylabel="right, test", title=f"kappa = {kappa.value:g}")
    _ax.figure
    return


@app.cell(hide_code=True)
def bounds_text(mo):
    mo.md(r"""
    ## What the theory says

    With $m$ examples, $d$ inputs and $c$ questions, the paper bounds the error of local learning by the best local error
    plus a term in $d / m$, and that of global learning by a term that has $c$ questions in it. The first stops at the best
    local error, the second goes to zero, but starts later: so they cross.
    """)
    return


@app.cell
def two_bounds(Figure, np, so):
    m = np.logspace(4, 9.5, 100)
    together = np.array([so.bounds.global_error(n, n_inputs=100, n_components=5) for n in m])
    alone = np.array([so.bounds.local_error(n, n_inputs=100, best=0.05) for n in m])
    _ax = Figure(figsize=(5.8, 3.4), layout="constrained").subplots()
    _ax.loglog(m, alone, color="#0072b2", label="local, best error 0.05 (L+I)")
    _ax.loglog(m, together, color="#d55e00", label="global, separable (IBT)")
    _ax.set(xlabel="training examples", ylabel="bound on the error", ylim=(0.003, 3))
    _ax.legend(frameon=False)
    _ax.figure
    return alone, m, together


@app.cell(hide_code=True)
def rules(mo):
    mo.md(r"""
    ## Rules of your own

    Most rules are no list. Tags of names in text may not follow each other in any order (`I-PER` only after `B-PER` or `I-PER`): that is
    `so.Chain(transitions="bio")`, and inference stays as fast as Viterbi. "At most one of these", "if this then that"
    are constraints over labels (`so.constraints`, `so.constrain`), answered by search over integer programmes. The three schemes are the
    same for all of them: `ConstraintScheme` takes any structure that knows how to forget its rules. Its learner can be a
    formulation, and then what it found is certified:
    """)
    return


@app.cell
def certified(data, so):
    both = so.ConstraintScheme("IBT", so.LabelVector(data.legal), learner=so.M3N(C=0.1))
    both.fit(data.X[:150], data.Y[:150])
    print(f"{both.score(data.X[600:], data.Y[600:]):.3f} right;", both.model_.result_.certificate)
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** Write inference with a rule: `scores[t]` is how much better "yes" is than "no" for question $t$ (negative: worse), `legal` a list
    of tuples of bits. Return the best legal tuple.
    """)
    return


@app.cell
def exercise_1():
    def mine_1(scores, legal):
        return None

    return (mine_1,)


@app.cell(hide_code=True)
def answer_1(np):
    def right_1(scores, legal):
        return max(legal, key=lambda y: np.dot(scores, y))

    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, data, mine_1, np, right_1):
    def _check(answer):
        rng = np.random.default_rng(0)
        for _ in range(20):
            scores = rng.normal(size=5)
            found = answer(scores, data.legal)
            if found is None:
                return "It returns None so far."
            if tuple(found) != right_1(scores, data.legal):
                return f"For scores {scores.round(2)} it is {right_1(scores, data.legal)}."
        return True

    Exercise(mine_1, right_1, _check)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** From how many examples on (of those in `m`) does the bound of global learning, `together`, lie below that of local learning,
    `alone`?
    """)
    return


@app.cell
def exercise_2():
    mine_2 = None
    return (mine_2,)


@app.cell(hide_code=True)
def answer_2(alone, m, np, together):
    right_2 = m[np.argmax(together < alone)]
    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, right_2):
    Exercise(mine_2, right_2, lambda given: abs(float(given) / right_2 - 1) < 0.01)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** The rule "exactly two of the five are yes": how many legal vectors does it leave, and what share of all answers would somebody
    get right on average who always says "no", if all legal vectors are equally frequent? Give the pair (count, share).
    """)
    return


@app.cell
def exercise_3():
    mine_3 = None
    return (mine_3,)


@app.cell(hide_code=True)
def answer_3():
    from itertools import product

    legal_two = [y for y in product((0, 1), repeat=5) if sum(y) == 2]
    right_3 = (len(legal_two), 3 / 5)
    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, right_3):
    Exercise(mine_3, right_3)
    return


@app.cell(hide_code=True)
def the_end(mo):
    mo.md(r"""
    That was the last lesson. The gallery shows what all this is for, the papers' pages what it reproduces, and `so.describe` tells you
    what becomes of a formulation of your own.
    """)
    return


if __name__ == "__main__":
    app.run()
