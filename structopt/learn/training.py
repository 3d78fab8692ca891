"""Running a method for a model: limits, progress, and a warning if it did not finish."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from structopt import names
from structopt.engines.dataset import DataSet
from structopt.errors import CertificateError, ConvergenceWarning
from structopt.run.interrupts import held_back
from structopt.run.limits import Limits
from structopt.run.progress import Progress
from structopt.run.result import UNFINISHED
from structopt.structures.base.structure import Structure

if TYPE_CHECKING:  # CVXPY comes with it, and a model that only predicts does without
    from structopt.methods.method import Method


def train(
    model: Any,
    method: Callable[..., Method],
    structure: Structure,
    data: DataSet,
    *,
    label: str,
    **options: Any,
) -> Method:
    """Run a method and leave ``structure_`` and ``result_`` with the model; return the run.

    Parameters
    ----------
    model : estimator
        With `formulation`, `tol`, `max_iter`, `time_limit`, `callbacks` and `verbose`.
    method : callable
        A class of :class:`~structopt.Method`, or what makes a run as one does.
    structure : Structure
        Fitted.
    data : DataSet
    label : str
        What the progress line says.
    **options
        Of the method.
    """
    with contextlib.ExitStack() as stack:
        limits = Limits(
            tol=model.tol,
            max_iter=model.max_iter,
            time_limit=model.time_limit,
            callbacks=model.callbacks,
        )
        if model.verbose:
            shown = stack.enter_context(Progress(label, model.tol))
            limits = replace(limits, callbacks=(*limits.callbacks, shown))
        run = method(structure, model.formulation, data, limits=limits, **options)
        with held_back():  # a model that was found is not lost on its way to the caller
            result = run.solve()
            model.structure_, model.result_ = structure, result
    # methods that minimise nothing have no lower bound to wait for
    if result.status in UNFINISHED and math.isfinite(result.certificate.dual):
        warnings.warn(
            f"Stopped ({result.status}) at a relative gap of "
            f"{result.certificate.relative_gap:.1e}, wanted {model.tol:.1e}. Raise max_iter or "
            "time_limit, or loosen tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return run


def audited(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Leave an audit of what was learned with the model; raise what it disagrees on."""
    model.audit_ = names.load("audit")(model, X, y, sample_weight=sample_weight)
    if not model.audit_.agrees:
        c = model.result_.certificate
        error = CertificateError(str(model.audit_), primal=c.primal, dual=c.dual)
        doubted = c.doubted("an audit disagrees")
        error.result = model.result_ = replace(model.result_, certificate=doubted)
        raise error
