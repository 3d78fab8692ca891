"""Which tests should notice a change of which file: what answers oracles, what makes certificates.

The quick ones stand first, since a mutant's run ends at the first failure. A file's own doctest is
run before them.
"""

STRUCTURES = "tests/contracts/test_structures.py"
T = "tests/structures"


def _room(room: str, word: str, *tests: str, files: str) -> dict[str, list[str]]:
    cells = f'{STRUCTURES} -k "{word}"'
    listed = [f"{T}/{name}.py" for name in tests]
    return {f"structopt/structures/{room}/{f}.py": [*listed, cells] for f in files.split()}


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
    **_room("cut", "Cut", "test_cut", files="search shard"),
    **_room("markov_net", "MarkovNet", "test_markov_net", files="kernels search shard"),
    **_room("program", "BooleanProgram", "test_program", files="shard"),
    **_room("constrain", "constrain", "test_constrain", files="multipliers search shard"),
}

COMPILED: set[str] = set()
"""Loops that plain Python cannot run: they are compiled anew for each mutant."""
