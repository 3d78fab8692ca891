"""Full solves against enumeration: random small problems, trained, and compared with plain CVXPY.

The reference writes every output of every example out as a row (``structopt.testing``'s
``FullProblem``). Flagged are: bounds that do not contain the optimum, weights that do not attain
what is said of them, "optimal" above the gap that was asked for, infeasible or unbounded where it
is not, refusals of what must be taken, and anything raised that is not an error of ours.

A short set runs in the suite; the long run is ``python tests/campaigns/full_solves.py
--count 10000 --log solves.txt``, which goes on where a log ends.
"""

import argparse
import collections
import json
import logging
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
from random_problems import Own, drawn

import structopt as so
from structopt.structures.base.small import Small
from structopt.testing.check import CheckError
from structopt.testing.formulation import declared
from structopt.testing.full_problem import FullProblem
from structopt.testing.structure_case import StructureCase

SECONDS = 60  # of CPU: a fit that takes longer hangs
ONLINE = ("perceptron", "mira")  # they bound nothing, and say so
SLOW = ("osqp", "extragradient", "proximal", "subgradient", "bregman", "frank-wolfe", "em")
SLOW += ("compact", "splitting", "block-ascent", "dual-extragradient", "exponentiated-gradient")
SLOW += ("working-sets", "structured-smo")
STALLED = 10
"""Multiples of the tolerance at which a run with exponential cones may stall, if it says so."""
"""First-order backends and methods, and one that solves once: they may stop short, and say so."""


def truth(problem):
    """Return the full problem; the examples of a user's formulation repeated where they can be."""
    weight, case, resolved = problem.sample_weight, problem.case, problem.formulation
    if getattr(resolved, "B_fraction", None) is not None:  # a fraction of what a first run finds
        data = so.DataSet.of(case.structure, case.X, case.Y, sample_weight=weight)
        resolved = so.CuttingPlane(case.structure, resolved, data, tol=problem.tol).formulation
    own = isinstance(resolved, Own) and resolved.rule != "own multiples"  # these go by position
    if weight is None or not own or np.any(weight % 1):
        return FullProblem(case, resolved, weight)
    which = np.repeat(np.arange(len(weight)), weight.astype(int))
    X, Y = [case.X[i] for i in which], [case.Y[i] for i in which]
    small = case.small
    again = Small(case.structure, X, Y, small.outputs, small.features, small.loss)
    repeated = StructureCase(again)
    repeated.outputs = [case.outputs[i] for i in which]
    return FullProblem(repeated, resolved)


def optimum(full):
    """Return the optimum: inf where nothing is feasible, -inf where nothing bounds it."""
    try:
        return full.optimum()
    except CheckError as error:
        if "unbounded" in str(error):
            return -np.inf
        if "infeasible" in str(error):
            return np.inf
        raise


def judged(problem, model):
    """Return what is wrong with a trained model, or None, and a word for the statistics."""
    result = model.result_
    found, status = result.certificate, result.status
    full = truth(problem)
    best = optimum(full)
    if not np.isfinite(best):
        return f"the full problem is {best}, the run ended {status}: {found}", "found"
    logs = isinstance(problem.formulation, so.LaplaceM3N)  # less is known of exponential cones
    slip = (1e-5 if logs else 1e-6) * (1 + abs(best))
    if problem.method in ONLINE:
        wrong = found.certified or status == "optimal"
        return (f"an online method claims {found}" if wrong else None), "online"
    if found.certified != (status == "optimal") and found.exact:
        return f"status {status}, certified {found.certified}: {found}", "found"
    if not found.exact:
        return None, "not exact"
    if not found.dual - slip <= best <= found.primal + slip:
        return f"bounds {found.dual}, {found.primal} do not contain {best}", "found"
    if found.certified and found.primal - best > problem.tol * abs(found.primal) + slip:
        return f"certified at {found.primal}, the optimum is {best}", "found"
    try:
        value = full.value(result.weights) if np.isfinite(found.primal) else np.inf
    except CheckError as error:
        return f"at its weights: {error}", "found"
    if value > found.primal + slip:
        return f"says {found.primal}, its weights have {value}", "found"
    if found.primal - found.dual <= slip:  # a gap of less than the reference's own accuracy
        return None, f"{status}, rounding" if status != "optimal" else status
    if logs and status == "stalled" and found.relative_gap <= STALLED * problem.tol:
        return None, "stalled, logarithms"  # its exponential cones: bounds less tight
    if status == "stalled" and not problem.case.small.exact:
        return (
            None,
            "stalled, relaxed",
        )  # its oracles leave more open than the tolerance, and say so
    if status != "optimal" and not {problem.backend, problem.method} & {*SLOW}:
        return f"{status} after {len(result.history)} rounds: {found}", "found"
    return None, status


def needed(problem):
    """Return whether a refusal is a finding: the general method, and all that is asked is offered.

    What no oracle answers, and weights on other than sums of slacks, may be refused.
    """
    if problem.method not in ("auto", "cutting-plane") or problem.backend not in ("auto", "cvxpy"):
        return False
    formulation, weighted = problem.formulation, problem.sample_weight is not None
    if isinstance(formulation, Own) and (
        formulation.rule == "squared loss"
        or (weighted and (formulation.own_slack or formulation.objective in ("squares", "worst")))
    ):
        return False
    if getattr(formulation, "B_fraction", None) is not None:
        return False  # it asks more questions than its declaration says
    try:
        asked = declared(formulation, problem.case).families
    except so.errors.IncompatibleError:  # no oracle is known for this rule
        return False
    offered = problem.case.structure.abilities()
    return all(family.oracle.needs in offered for family in asked)


def outcome(problem):
    """Run one problem; return what was wrong or None, and a word for the statistics."""

    def late(*_):
        raise TimeoutError(f"no answer after {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", so.ConvergenceWarning)
            model = problem.fitted()
    except (so.errors.IncompatibleError, so.errors.InvalidInputError) as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        said = f"{type(error).__name__}: {str(error)[:300]}"
        return (f"refused: {said}" if needed(problem) else None), f"refused: {said}"
    except (so.errors.InfeasibleError, so.errors.UnboundedError) as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        best = optimum(truth(problem))
        proper = {np.inf: so.errors.InfeasibleError, -np.inf: so.errors.UnboundedError}.get(best)
        said = type(error).__name__
        return (None if proper is type(error) else f"{said}, but {best}: {error}"), said
    except so.errors.BackendError as error:
        named = problem.backend not in ("auto", "cvxpy")  # a named one is not replaced
        return (None if named else f"BackendError: {error}"), f"BackendError {problem.backend}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return f"{type(error).__name__} at {where}: {str(error)[:300]}", "raised"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judged(problem, model)


def run(numbers, seed, log=None, method=None):
    """Run problems by number; return the words of all, and the findings."""
    seen, findings = collections.Counter(), {}
    for number in numbers:
        problem = drawn(seed, number, method)
        started = time.process_time()
        try:
            wrong, word = outcome(problem)
            if wrong and "time_limit" in wrong:  # by now everything is compiled
                wrong, word = outcome(problem)
        except (cp.error.SolverError, CheckError) as error:  # of the reference
            wrong, word = None, f"no reference: {str(error)[:80]}"
        except Exception as error:
            wrong, word = f"the reference: {type(error).__name__}: {error}", "raised"
        seen[word.split(":")[0]] += 1
        if wrong:
            findings[number] = f"{problem}: {wrong}"
        if log is not None:
            seconds = round(time.process_time() - started, 3)
            record = {"n": number, "word": word, "wrong": wrong, "s": seconds, "p": str(problem)}
            log.write(json.dumps(record) + "\n")
            log.flush()
    return seen, findings


def main():
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=None, help="go on where this file ends")
    parser.add_argument("--only", type=int, nargs="*", help="these numbers only")
    parser.add_argument("--method", help="this method only, on structures that it takes")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    numbers = range(arguments.count) if arguments.only is None else arguments.only
    old = []
    if arguments.log is not None and arguments.log.exists():
        old = [json.loads(line) for line in arguments.log.read_text().splitlines()]
    done = {record["n"] for record in old}
    left = [number for number in numbers if number not in done]
    if arguments.log is None:
        seen, findings = run(left, arguments.seed, None, arguments.method)
    else:
        with arguments.log.open("a") as log:
            seen, findings = run(left, arguments.seed, log, arguments.method)
    seen.update(record["word"].split(":")[0] for record in old)
    findings |= {r["n"]: f"{r['p']}: {r['wrong']}" for r in old if r["wrong"]}
    for number, found in sorted(findings.items()):
        print(f"{number}: {found}")
    print(f"{len(done) + len(left)} problems, {len(findings)} flagged; {dict(seen)}")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
