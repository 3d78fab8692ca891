"""Delta measured from outputs other than gold: answers are brute force, losses stay."""

import copy

import numpy as np
import pytest
from small_structures import small_of

import structopt as so
from structopt import names
from structopt.errors import IncompatibleError
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_shards import check_answer, offered

FIXED = {"References", "constrain", "MarkovNet", "Ranking"}  # delta is measured from gold alone
STRUCTURES = [e for e in names.of_kind("structure", "wrapper") if e.name not in FIXED]


@pytest.mark.parametrize("entry", STRUCTURES, ids=lambda entry: entry.name)
def test_delta_is_measured_from_the_outputs_given_and_losses_stay(entry):
    for seed in range(4):
        case = StructureCase(small_of(entry)(np.random.default_rng(seed)), seed)
        shard = case.structure.encode(case.X, case.Y)
        data = so.DataSet([shard], case.structure.n_features_)
        for w, other in ((case.weights[1], case.weights[4]), (case.weights[3], case.weights[2])):
            answers = data.argmax(other)
            moved = copy.copy(case)
            outputs = data.outputs(case.structure, answers)
            moved.gold = [case.place(i, y) for i, y in enumerate(outputs)]
            anchored = shard.anchored(answers[0].outputs)
            for oracle in {so.loss_augmented, so.oracles.worst}.intersection(offered(case)):
                found = anchored.ask(oracle, w)
                for i in range(len(case.X)):
                    values = moved.hinge(oracle, i, w)
                    check_answer(moved, anchored, found, i, w, values, oracle.name)


@pytest.mark.parametrize("name", sorted(FIXED))
def test_the_others_say_so(name):
    entry = next(e for e in names.of_kind("structure", "wrapper") if e.name == name)
    case = StructureCase(small_of(entry)(np.random.default_rng(0)), 0)
    shard = case.structure.encode(case.X, case.Y)
    answers = shard.ask(offered(case)[0], case.weights[4])
    with pytest.raises(IncompatibleError, match="other than gold"):
        shard.anchored(answers.outputs)
