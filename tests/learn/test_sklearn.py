"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import structopt as so

LISTS = "predict returns a list of outputs, which need not be numbers: also of a Multiclass"
EXPECTED = {"check_estimator_sparse_array": LISTS, "check_estimator_sparse_matrix": LISTS}
ESTIMATORS = [
    (so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=1e-2), EXPECTED),
    (so.KernelMachine(so.Multiclass(), so.M3N(), tol=1e-2), EXPECTED),
    (so.KernelMap(), {}),
    (so.DictFeatures(), {}),
    (so.ColumnFeatures(), {}),
    (so.WordFeatures(), {}),
    (so.PerToken(StandardScaler()), {}),
    (so.JoinedFeatures([so.WordFeatures()]), {}),
]


@pytest.mark.parametrize(
    ("estimator", "expected"), ESTIMATORS, ids=[type(e).__name__ for e, _ in ESTIMATORS]
)
@pytest.mark.filterwarnings("ignore")  # of the data that scikit-learn tries
def test_scikit_learn_s_checks(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)
