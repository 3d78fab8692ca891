import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Lesson 2: the oracle")


@app.cell(hide_code=True)
def title(mo):
    mo.md(r"""
    # Lesson 2: exponentially many constraints, and the oracle that finds one

    Five words, four tags. Each way from left to right through this *trellis* is a tagging, and there
    are $4^5 = 1024$ of them. The number at a node is the score of the best way that ends there; the
    thick one is the best of all, the dashed one is right. To find the thick one took 64 additions,
    not the scores of 1024 taggings. This lesson shows how, and why learning needs it.
    """)
    return


@app.cell
def imports():
    import marimo as mo
    import numpy as np

    import structopt as so
    from structopt.lab.exercise import Exercise

    return Exercise, mo, np, so


@app.cell
def data(np, so):
    words = ["fruit", "flies", "like", "a", "banana"]
    tags = ["adj", "det", "noun", "verb"]
    gold = ["adj", "noun", "verb", "det", "noun"]
    # x_t says which word stands at position t; the weights are what a learner might have so far
    x = np.eye(5)
    structure = so.Chain(labels=tags).fitted([x], [gold])
    emit = np.array([
        [1.0, 0.0, 0.5, 0.0, 0.0],  # adj
        [0.0, 0.0, 0.0, 3.0, 0.0],  # det
        [2.0, 1.5, 0.0, 0.0, 2.0],  # noun
        [0.0, 1.8, 1.5, 0.0, 0.0],  # verb
    ])  # fmt: skip
    step = np.array([
        [0.2, -1.0, 1.0, -0.5],  # after adj
        [0.8, -2.0, 1.0, -1.0],  # after det
        [-0.5, 0.0, 0.5, 0.8],   # after noun
        [0.3, 0.8, 0.3, -0.5],   # after verb
    ])  # fmt: skip
    weights = np.concatenate([emit.ravel(), step.ravel()])
    return emit, gold, step, structure, tags, weights, words, x


@app.cell(hide_code=True)
def the_trellis(gold, so, structure, weights, words, x):
    so.draw.trellis(structure, x, weights, gold=gold, inputs=words).figure
    return


@app.cell(hide_code=True)
def many(mo):
    mo.md(r"""
    ## How many is many

    A margin asks the right output to lead *every* other one (lesson 1). With $K$ labels and $T$
    positions there are $K^T - 1$ others, for every sentence one constraint each:

    $$
    w \cdot \delta(y) \ge \mathrm{loss}(y) - \xi \qquad \text{for all } y \in \{1, \dots, K\}^T .
    $$
    """)
    return


@app.cell
def counting():
    for _T in (5, 10, 20, 40):
        print(f"{_T:2} words, 4 tags: {4**_T:.3g} taggings; 45 tags: {45**_T:.3g}")
    return


@app.cell(hide_code=True)
def local(mo):
    mo.md(r"""
    ## What makes it easy

    The score of a tagging is a sum over its *parts*: each word with its tag, each tag with the next.

    $$
    w \cdot \phi(x, y) = \sum_t W[y_t] \cdot x_t + \sum_t T[y_{t-1}, y_t]
    $$

    So the best way to a node only needs the best ways to the nodes before it,

    $$
    V_t(y) = W[y] \cdot x_t + \max_{y'} \; V_{t-1}(y') + T[y', y],
    $$

    column by column: $T K^2$ additions. That is Viterbi's algorithm. Move the slider and watch the
    columns fill; the blue lines remember where each maximum came from, and at the end one follows them
    back.
    """)
    return


@app.cell
def choose_column(mo):
    columns = mo.ui.slider(1, 5, value=2, label="columns", show_value=True)
    columns
    return (columns,)


@app.cell(hide_code=True)
def filling(columns, so, structure, weights, words, x):
    so.draw.trellis(structure, x, weights, upto=columns.value, inputs=words).figure
    return


@app.cell
def the_best(so, structure, weights, words, x):
    print("best:       ", structure.argmax(x, weights))
    for _y in structure.k_best(x, weights, 4)[1:]:
        _score = structure.joint_features(x, _y) @ weights
        print(f"then {_score[0]:.2f}: ", _y)
    return


@app.cell(hide_code=True)
def truth(mo):
    mo.md(r"""
    `so.Enumerated` is the truth to compare with: it looks at every output. It gets the same answer,
    and for a sentence of forty words it would not get it in our lifetime.
    """)
    return


@app.cell
def brute_force(so, structure, tags, weights, x):
    from itertools import product

    every = [list(_y) for _y in product(tags, repeat=5)]
    slow = so.Enumerated(every, structure.joint_features, structure.loss)
    print(len(every), "outputs, the best of them:", slow.argmax(x, weights))
    return every, slow


@app.cell(hide_code=True)
def augmented_text(mo):
    mo.md(r"""
    ## The question that learning asks

    Learning does not ask for the best output, but for the **most violated constraint**: the $y$ with
    the largest $\mathrm{loss}(y) - w \cdot \delta(y)$. The score of gold is the same for all $y$, so
    that is

    $$
    \arg\max_y \; w \cdot \phi(x, y) + \mathrm{loss}(y) .
    $$

    The Hamming loss is a sum over positions, too: one point for each wrong tag. Add it to the nodes,
    and run the same algorithm. This is *loss-augmented decoding*, and the thing that answers is called an
    **oracle**. Compare the picture with the first one: every node off the dashed way got one
    point for each wrong tag so far.
    """)
    return


@app.cell
def augmented(gold, so, structure, weights, words, x):
    so.draw.trellis(structure, x, weights, gold=gold, augmented=True, inputs=words).figure
    return


@app.cell
def the_oracle(gold, structure, weights, x):
    worst = structure.argmax(x, weights, gold=gold)
    _delta = (structure.joint_features(x, gold) - structure.joint_features(x, worst)) @ weights
    print("most violated:", worst)
    print(f"loss {structure.loss(gold, worst):g}, w.delta {_delta[0]:+.2f}")
    return (worst,)


@app.cell(hide_code=True)
def whole(mo):
    mo.md(r"""
    ## A constraint at a time

    One answer of the oracle proves something about *all* 1023 constraints: if the most violated one
    holds, so do the others. So a learner needs no list. It keeps the few that the oracle ever
    returned (lesson 3), and here is how few: after learning this sentence,
    """)
    return


@app.cell
def learning(gold, so, structure, x):
    model = so.StructuredClassifier(so.Chain(labels=structure.labels), so.M3N(C=10.0))
    result = model.fit([x], [gold]).result_
    print(model.predict([x])[0])
    print(result.history[-1].cuts, "constraints were enough, of 1023;", result.certificate)
    return


@app.cell(hide_code=True)
def exercises(mo):
    mo.md(r"""
    ## Exercises

    **1.** A word of 8 letters, 26 labels. How many additions `V + T` does Viterbi make (the first column
    makes none)?
    """)
    return


@app.cell
def exercise_1():
    mine_1 = None
    return (mine_1,)


@app.cell(hide_code=True)
def answer_1():
    right_1 = 7 * 26**2
    return (right_1,)


@app.cell(hide_code=True)
def check_1(Exercise, mine_1, right_1):
    Exercise(mine_1, right_1)
    return


@app.cell(hide_code=True)
def exercise_2_text(mo):
    mo.md(r"""
    **2.** Write Viterbi's value: `local[t, y]` is the score of label y at position t, `step[a, b]` that of a
    transition. Return the score of the best output.
    """)
    return


@app.cell
def exercise_2():
    def mine_2(local, step):
        return None

    return (mine_2,)


@app.cell(hide_code=True)
def answer_2():
    def right_2(local, step):
        value = local[0]
        for row in local[1:]:
            value = row + (value[:, None] + step).max(axis=0)
        return value.max()

    return (right_2,)


@app.cell(hide_code=True)
def check_2(Exercise, mine_2, np, right_2):
    def _check(answer):
        rng = np.random.default_rng(0)
        for length, k in ((1, 3), (4, 2), (6, 5)):
            local, step = rng.normal(size=(length, k)), rng.normal(size=(k, k))
            found = answer(local, step)
            if found is None:
                return "It returns None so far."
            if abs(found - right_2(local, step)) > 1e-9:
                return f"Wrong for {length} positions and {k} labels."
        return True

    Exercise(mine_2, right_2, _check)
    return


@app.cell(hide_code=True)
def exercise_3_text(mo):
    mo.md(r"""
    **3.** How many of the 1024 taggings (they are in `every`) violate their constraint at these weights, with
    no slack: $w \cdot \delta(y) < \mathrm{loss}(y)$?
    """)
    return


@app.cell
def exercise_3():
    mine_3 = None
    return (mine_3,)


@app.cell(hide_code=True)
def answer_3(every, gold, structure, weights, x):
    _features = structure.joint_features
    right_3 = sum(
        float(((_features(x, gold) - _features(x, y)) @ weights)[0]) < structure.loss(gold, y)
        for y in every
    )
    return (right_3,)


@app.cell(hide_code=True)
def check_3(Exercise, mine_3, right_3):
    Exercise(mine_3, right_3)
    return


@app.cell(hide_code=True)
def onwards(mo):
    mo.md(r"""
    Trees, matchings, cuts and paths have oracles as well (`so.Arborescence`, `so.Matching`,
    `so.GraphCut`, `so.Lattice`): each is a famous algorithm, and all answer the same question. What
    a learner makes of the answers is lesson 3.
    """)
    return


if __name__ == "__main__":
    app.run()
