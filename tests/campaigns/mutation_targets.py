"""Which tests should notice a change of which file: what answers oracles, what makes certificates.

The quick ones stand first, since a mutant's run ends at the first failure. A file's own doctest is
run before them.
"""

VALUE = "tests/master/test_value.py"
STRUCTURES = "tests/contracts/test_structures.py"
T = "tests/structures"
BOUNDS, ERRING = "tests/master/test_true_bounds.py", "tests/methods/test_erring_oracles.py"
CHAINS = f"{STRUCTURES} -k Chain-"
PROGRAMS, LOSSES = "tests/structures/test_program.py", "tests/structures/test_losses.py"
RESIDUALS = "tests/backends/test_residuals.py"
SLACKS = "tests/methods/test_slacks_in_rows.py"
ASCENT = "tests/methods/test_block_ascent_rounds.py"
PLANES = "tests/methods/test_frank_wolfe_blocks.py"
LIFT, FIELDS = "tests/master/test_lift.py", "tests/learn/test_file_fields.py"


def _room(room: str, word: str, *tests: str, files: str) -> dict[str, list[str]]:
    cells = f'{STRUCTURES} -k "{word}"'
    listed = [f"{T}/{name}.py" for name in tests]
    moved = f'{T}/test_anchored.py -k "{word.replace("-", "")}"'
    every = [*listed, cells, moved, f"{T}/test_small_promises.py"]
    return {f"structopt/structures/{room}/{f}.py": every for f in files.split()}


TARGETS: dict[str, list[str]] = {
    **_room("multiclass", "Multiclass-", "test_multiclass", files="shard"),
    **_room("enumerated", "Enumerated", "test_enumerated", files="structure"),
    **_room("label_vector", "LabelVector", "test_label_vector", files="kernels shard"),
    **_room("chain", "Chain", "test_chain", "test_chain_transitions", files="scores shard kernels"),
    **_room("chain", "Chain", "test_chain", files="levels_kernels"),
    **_room("chain", "Chain", "test_chain_transitions", files="transitions"),
    **_room("hierarchy", "Hierarchy", "test_hierarchy", files="kernels scores shard"),
    **_room("lattice", "Lattice", "test_lattice", files="kernels shard trie"),
    **_room("references", "References", "test_references", files="shard lattice_shard"),
    **_room("matching", "Matching", "test_matching", files="kernels search shard"),
    **_room("arborescence", "Arborescence", "test_arborescence", files="kernels shard"),
    **_room("cut", "Cut", "test_close_ties", "test_cut", files="search shard"),
    **_room(
        "markov_net",
        "MarkovNet",
        "test_close_ties",
        "test_markov_net",
        files="kernels search shard",
    ),
    **_room("program", "BooleanProgram", "test_program", files="shard"),
    **_room("second_order", "SecondOrderChain", "test_second_order", files="kernels scores shard"),
    **_room("segments", "Segments", "test_segments", files="kernels scores shard"),
    **_room("grammar", "Grammar", "test_grammar", files="kernels shard nodes"),
    **_room("alignment_path", "AlignmentPath", "test_alignment_path", files="kernels shard"),
    **_room("ranking", "Ranking", "test_ranking", files="search shard"),
    **_room("subset", "Subset or MultiLabel", "test_sets", files="tables shard"),
    **_room("decision", "Decision", "test_decision", files="dag knapsack assignments trees shard"),
    # what makes certificates
    "structopt/run/certificate.py": ["tests/run/test_certificate_fields.py"],
    "structopt/master/question.py": ["tests/master/test_question.py"],
    "structopt/structures/base/oracles.py": [
        "tests/master/test_question.py",
        'tests/learn/test_hostile.py -k "multiple or excess"',
    ],
    "structopt/methods/verdict.py": ["tests/methods/test_verdicts.py"],
    "structopt/methods/lower_bound.py": ["tests/methods/test_lower_bound.py", ERRING],
    **{
        f"structopt/methods/block_ascent/{f}.py": [ASCENT, "tests/methods/test_block_ascent.py"]
        for f in ("labelled", "method", "chains", "classes")
    },
    **{  # uncompiled, sequences of 100,000 tokens take too long
        f"structopt/methods/block_ascent/{f}.py": [
            ASCENT,
            "tests/methods/test_block_ascent.py -k 'not of_many'",
        ]
        for f in ("chain_kernels", "class_kernels")
    },
    **{
        f"structopt/methods/block_ascent/{f}.py": ["tests/methods/test_part_blocks.py"]
        for f in ("parts", "part_blocks", "part_kernels", "problem")
    },
    "structopt/methods/subgradient/descent.py": [
        "tests/methods/test_descent_bounds.py",
        "tests/methods/test_subgradient.py",
    ],
    "structopt/methods/subgradient/method.py": [
        f"{ERRING} -k subgradient",
        "tests/methods/test_subgradient.py",
    ],
    "structopt/master/cones.py": ["tests/master/test_cones.py"],
    "structopt/master/anchor.py": ["tests/master/test_repair.py", BOUNDS],
    "structopt/master/term_bound.py": ["tests/master/test_terms.py"],
    "structopt/master/terms.py": ["tests/master/test_terms.py"],
    "structopt/master/rule.py": [f"{LIFT} -k sides", "tests/master/test_question.py", LIFT],
    "structopt/master/form.py": ["tests/master/test_form.py", "tests/master/test_refusals.py"],
    "structopt/master/ball.py": ["tests/methods/test_subgradient.py"],
    "structopt/master/cuts.py": ["tests/master/test_pool.py", FIELDS, BOUNDS],
    "structopt/master/pool.py": ["tests/master/test_pool.py", FIELDS],
    "structopt/master/program.py": [
        "tests/master/test_cones.py -k residual",
        "tests/master/test_lagrangian.py -k columns",
        BOUNDS,
    ],
    "structopt/master/rest.py": [VALUE, BOUNDS],
    "structopt/master/slacks.py": [VALUE, BOUNDS, ERRING],
    "structopt/master/lagrangian_kernels.py": ["tests/master/test_lagrangian.py -k step_to"],
    "structopt/master/lagrangian.py": [
        "tests/master/test_lagrangian.py -k columns",
        BOUNDS,
        "tests/master/test_lagrangian.py",
    ],
    "structopt/master/repair.py": ["tests/master/test_repair.py", BOUNDS],
    "structopt/master/value.py": [VALUE, ERRING],
    "structopt/master/separation.py": ["tests/master/test_separation.py", ERRING, SLACKS],
    "structopt/master/inner.py": ["tests/master/test_separation.py", SLACKS],
    "structopt/methods/frank_wolfe/kernels.py": [PLANES],
    "structopt/methods/frank_wolfe/blocks.py": [PLANES, "tests/methods/test_frank_wolfe.py"],
    "structopt/methods/frank_wolfe/planes.py": [PLANES, "tests/methods/test_frank_wolfe.py"],
    "structopt/methods/frank_wolfe/method.py": [
        f"{ERRING} -k frank-wolfe",
        "tests/methods/test_lying_oracles.py",
        "tests/methods/test_frank_wolfe.py",
    ],
    "structopt/methods/saddle/form.py": ["tests/methods/test_saddle_form.py", ERRING],
    "structopt/methods/saddle/method.py": [
        f'{ERRING} -k "extragradient or compact"',
        "tests/methods/test_saddle.py",
    ],
    "structopt/methods/working_sets.py": ["tests/methods/test_working_sets.py"],
    "structopt/methods/kernel_dual/kernels.py": ["tests/methods/test_kernel_dual.py"],
    "structopt/methods/kernel_dual/method.py": [
        "tests/methods/test_kernel_dual.py",
        f"{ERRING} -k kernel",
        "tests/learn/test_kernels.py",
    ],
    "structopt/backends/extragradient/judge.py": ["tests/backends/test_judge.py"],
    "structopt/backends/extragradient/certificate.py": [RESIDUALS],
    "structopt/backends/extragradient/certificate_kernels.py": [RESIDUALS],
    "structopt/backends/extragradient/rays.py": [
        RESIDUALS,
        "tests/backends/test_extragradient_statuses.py",
    ],
    # what decoders share
    "structopt/structures/base/k_best_kernels.py": [
        "tests/structures/test_alignment_path.py",
        f'{STRUCTURES} -k "AlignmentPath- or Grammar-"',
    ],
    "structopt/structures/base/parts_kernels.py": ["tests/structures/test_parts.py"],
    "structopt/structures/base/parts.py": ["tests/structures/test_parts.py"],
    "structopt/structures/base/flows_kernels.py": ["tests/structures/test_projections.py -k flow"],
    "structopt/structures/base/semiring_kernels.py": [
        "tests/structures/test_marginals.py",
        "tests/structures/test_second_order.py",
    ],
    "structopt/structures/base/longest_paths.py": ["tests/structures/test_chain.py", CHAINS],
    "structopt/structures/base/label_problem.py": [
        "tests/structures/test_multiclass.py",
        "tests/methods/test_block_ascent.py -k shards",
        CHAINS,
    ],
    "structopt/structures/base/label_costs.py": ["tests/structures/test_losses.py", CHAINS],
    "structopt/structures/base/orders.py": [
        "tests/structures/test_ranking.py",
        f'{STRUCTURES} -k "Ranking-"',
    ],
    **{
        f"structopt/structures/base/integer/{f}.py": [PROGRAMS, "tests/structures/test_decision.py"]
        for f in ("rows", "solver")
    },
    **_room("arborescence", "Arborescence-", "test_arborescence", files="projective_kernels"),
    "structopt/structures/label_vector/beam.py": ["tests/learn/test_schemes.py -k beam"],
    **_room("markov_net", "MarkovNet-", "test_markov_net", files="junction_tree"),
    **_room("graph_matching", "GraphMatching-", "test_graph_matching", files="structure"),
    **_room("multi_label", "MultiLabel-", "test_sets", files="structure"),
    **_room("references", "References-", "test_references", files="good_kernels"),
    **_room("lattice", "Lattice-", "test_lattice", "test_lattice_arrays", files="arrays_kernels"),
    **_room("decision", "Decision-", "test_decision", files="listed paths program tours edges"),
    **{
        f"structopt/structures/losses/{f}.py": [
            "tests/structures/test_sets.py",
            "tests/structures/test_ranking.py",
            LOSSES,
        ]
        for f in ("average_precision", "contingency", "discounted_gain", "swapped_pairs")
    },
    **{
        f"structopt/structures/losses/{f}.py": [LOSSES]
        for f in ("confusion", "part_costs", "span_costs", "tree_distance")
    },
    # points of polytopes, which dual values of saddle points rest on
    **{
        f"structopt/structures/{f}.py": ["tests/structures/test_projections.py"]
        for f in (
            "multiclass/projection",
            "cut/projection",
            "cut/projection_kernels",
            "matching/projection",
            "matching/projection_kernels",
        )
    },
    "structopt/structures/chain/projection_kernels.py": [CHAINS, "tests/methods/test_saddle.py"],
    "structopt/testing/audit.py": ["tests/learn/test_audit.py"],
    **_room(
        "constrain",
        "constrain",
        "test_close_ties",
        "test_constrain",
        files="multipliers search shard",
    ),
}

METHODS = "structopt/methods"
PROVING: dict[str, set[str]] = {
    f"{METHODS}/block_ascent/method.py": {
        "result", "_begin_at", "_declare", "_certify", "iterate", "state", "_result",
    },
    f"{METHODS}/frank_wolfe/method.py": {"result", "_raise", "_certify"},
    f"{METHODS}/subgradient/method.py": {
        "_declare", "_begin", "_at_once", "_in_batches", "_evaluate", "_raise",
    },
    f"{METHODS}/saddle/method.py": {"_judge", "_raise", "_certain", "_note", "iterate"},
    f"{METHODS}/working_sets.py": {"_most_violated", "_asked_of", "_note"},
}  # fmt: skip
"""Of methods, the functions that make certificates: the others decide how fast, not what is so."""
