"""One checkpoint of every version of the format: a run of today goes on from it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError

X = [
    np.reshape(x, (3, 3))
    for x in (
        [0.89, 0.95, 0.7, -0.64, -0.57, 0.67, 1.61, 1.55, 0.67],
        [0.98, 0.99, 0.2, -1.84, -1.88, -2.11, 0.99, 1.01, 0.88],
        [0.48, 0.54, -0.08, 0.52, 0.54, -3.12, -1.91, -1.89, 0.49],
        [-0.64, -0.52, 1.42, 0.13, 0.14, 0.07, 1.66, 1.6, 0.71],
        [0.78, 0.69, -2.28, 1.41, 1.45, 0.89, 1.98, 1.92, 0.31],
    )
]
Y = [[1, 1, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 0]]
OLD = Path(__file__).parent / "old_checkpoints"


def run(path, X=X, Y=Y):
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    return so.CuttingPlane(structure, so.M3N(C=0.5), data, tol=1e-2, checkpoint=path)


@pytest.mark.parametrize(("name", "cuts"), [("version_0_1", False), ("version_2", True)])
def test_a_run_goes_on_from_a_checkpoint_of_every_version(name, cuts, tmp_path):
    path = tmp_path / "run.npz"
    shutil.copy(OLD / f"{name}.npz", path)
    begun = run(path)
    assert (len(begun.master.pool) > 0) == cuts  # data had another name in 0.1: weights only
    assert begun.state.primal == pytest.approx(8.11355, abs=1e-5)  # what the old run had found
    result = begun.solve()
    assert result.certificate.certified
    assert result.certificate.primal <= 8.11355 + 1e-5


def test_weights_of_other_data_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    shutil.copy(OLD / "version_0_1.npz", path)
    with pytest.raises(InvalidInputError, match="other data"):
        run(path, [x[:, :2] for x in X])


def test_a_folder_that_is_not_there_is_told_before_any_work(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no folder"):
        run(tmp_path / "none" / "run.npz")
