"""Faults while training: the best model is kept, or a typed error says what happened.

Solvers that raise, answer NaN or hang, memory that runs out, a full disk, killed workers, and
signals: SIGINT at random instructions and moments, SIGTERM and SIGKILL at random moments, after
which a run goes on from its checkpoint to the same certified optimum. A short set runs in the
suite; the long run is ``python tests/campaigns/faults.py --count 100``.
"""

import argparse
import collections
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import structopt as so
from structopt.backends.base import MasterSolution
from structopt.methods import registry

X, Y = so.datasets.make_chain_crf(n_examples=12, length=4, n_features=5, n_relevant=3, seed=0)
TOL = 1e-5
METHODS = {
    "cutting-plane": so.M3N(C=3.0),
    "frank-wolfe": so.M3N(C=3.0),
    "subgradient": so.M3N(C=3.0),
    "extragradient": so.M3N(C=3.0),
    "bregman": so.M3N(C=3.0),
    "em": so.L1M3N(C=3.0),
    "perceptron": so.M3N(C=3.0),
}


def model(method="cutting-plane", backend="clarabel", tol=TOL, **settings):
    """Return a model that needs a dozen rounds."""
    named = {"backend": backend} if method == "cutting-plane" else {}
    formulation = settings.pop("formulation", METHODS[method])
    settings.setdefault("max_iter", 300)
    return so.StructuredClassifier(
        so.Chain(), formulation, method=method, tol=tol, **named, **settings
    )


def optimum(formulation=None):
    """Return the optimum to ten times the accuracy that runs are asked for."""
    found = model(tol=TOL / 10, **({} if formulation is None else {"formulation": formulation}))
    return found.fit(X, Y).result_.certificate.primal


class Failing(so.Clarabel):
    """A solver that does something else from a round on."""

    def __init__(self, fault="raise", rounds=2, seconds=1e9):
        super().__init__()
        self.fault, self.rounds, self.seconds, self.solves = fault, rounds, seconds, 0

    def solve(self, *, tolerance, time_limit=None):
        found = super().solve(tolerance=tolerance, time_limit=time_limit)
        self.solves += 1
        if self.solves <= self.rounds:
            return found
        if self.fault == "hang":
            time.sleep(self.seconds)
        return FAULTS[self.fault](found)


def raising(error):
    def raised(found):
        raise error

    return raised


FAULTS = {
    "RuntimeError": raising(RuntimeError("lost its licence")),
    "ZeroDivisionError": raising(ZeroDivisionError()),
    "SystemError": raising(SystemError("error return without exception set")),
    "MemoryError": raising(MemoryError("512 GiB")),
    "None": lambda found: None,
    "NaN x": lambda found: changed(found, x=np.full_like(found.x, np.nan)),
    "NaN duals": lambda found: changed(found, cut_duals=np.full_like(found.cut_duals, np.nan)),
    "inf x": lambda found: changed(found, x=np.full_like(found.x, np.inf)),
    "short": lambda found: changed(found, x=found.x[:-1]),
    "failed": lambda found: changed(found, status="failed"),
    "infeasible": lambda found: changed(found, status="infeasible"),
    "unbounded": lambda found: changed(found, status="unbounded"),
    "hang": lambda found: found,
}


def changed(found, **fields):
    return MasterSolution(**(vars(found) | fields))


# ---------------------------------------------------------------------- in this process
def solver_fault(rng, best):
    """A solver that fails in a random way and round: a typed error that carries a model."""
    fault, rounds = str(rng.choice([f for f in FAULTS if f != "hang"])), int(rng.integers(0, 9))
    try:
        result = model(backend=Failing(fault, rounds)).fit(X, Y).result_
    except so.errors.StructoptError as error:
        kept = error.result is not None or rounds == 0
        named = "failing" in str(error).lower() or "clarabel" in str(error) or "emory" in str(error)
        right = isinstance(error, MemoryError) == (fault == "MemoryError")
        if not (kept and named and right):
            return f"{fault} after {rounds}: {type(error).__name__}: {error} ({error.result})"
        return None if rounds == 0 else holds(error.result, best)
    return holds(result, best)


def hanging(rng, best):
    """A solver that hangs, of a user's or behind CVXPY: the time limit holds within 2x."""
    rounds, limit = int(rng.integers(0, 6)), float(rng.uniform(0.5, 1.5))
    before = time.perf_counter()
    result = model(backend=Failing("hang", rounds), time_limit=limit).fit(X, Y).result_
    took = time.perf_counter() - before
    if took > 2 * limit or result.status != "time_limit":
        return f"{took:.2f} s with a limit of {limit:.2f} s: {result}"
    return holds(result, best)


def full_disk(rng, best):
    """A disk that takes so many bytes: the run goes on, and says that it was not saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")
        whole = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(rng.integers(0, 3000)), whole[1]))
        try:
            result = model(checkpoint=path).fit(X, Y).result_
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, whole)
        if result.status != "optimal" or "checkpoint was not written" not in str(result):
            return f"nothing said: {result}"
        left = [p.name for p in Path(folder).iterdir() if p != path]
        if left:
            return f"drafts are left: {left}"
        if path.exists():  # an earlier round fitted
            again = model(checkpoint=path).fit(X, Y).result_
            return holds(again, best)
    return holds(result, best)


def interrupted_instruction(rng, best, *, presses=1):
    """SIGINT at a random instruction of a run, once or twice."""
    method = str(rng.choice(list(METHODS)))
    run = made(method)
    moment, seen, pressed = int(rng.integers(instructions(method))), 0, 0

    def trace(frame, event, argument):
        nonlocal seen, pressed
        frame.f_trace_opcodes = True
        seen += event == "opcode"
        if pressed < presses and seen > moment + 200 * pressed:
            pressed += 1
            signal.raise_signal(signal.SIGINT)
        return trace

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.settrace(trace)
        try:
            result = run.solve()
        finally:
            sys.settrace(None)
            signal.signal(signal.SIGINT, before)
    except KeyboardInterrupt:
        # before the run listens, or when its result is on its way
        return None if seen < 300 or run.history else f"{method}: nothing kept at {moment}"
    except BaseException as error:
        return f"{method} at {moment}: {type(error).__name__}: {error}"
    if result.status not in ("interrupted", "optimal", "max_iter", "stalled", "separated"):
        return f"{method} at {moment}: {result}"
    if method == "perceptron":
        unbegun = presses > 1 and not run.history  # the second one ended its first round
        kept = unbegun or np.any(result.weights)
        return None if kept else f"{method} at {moment}: no weights"
    return holds(result, best if method != "em" else None)


def made(method):
    """Return a run that is not solved yet."""
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    options = {"backend": "clarabel"} if method == "cutting-plane" else {}
    return registry.make(method)(structure, METHODS[method], data, tol=TOL, max_iter=12, **options)


_INSTRUCTIONS = {}


def instructions(method):
    """Count the instructions of a run."""
    if method not in _INSTRUCTIONS:
        run, seen = made(method), 0

        def trace(frame, event, argument):
            nonlocal seen
            frame.f_trace_opcodes = True
            seen += event == "opcode"
            return trace

        sys.settrace(trace)
        try:
            run.solve()
        finally:
            sys.settrace(None)
        _INSTRUCTIONS[method] = seen
    return _INSTRUCTIONS[method]


# ---------------------------------------------------------------------- in a child
def child(work):
    """Do some work in a forked process, which has everything compiled; return its number."""
    sys.stdout.flush()
    number = os.fork()
    if number == 0:
        try:
            logging.disable(logging.CRITICAL)
            work()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(3)
        os._exit(0)
    return number


def signalled(work, number, rng, seconds):
    """Send a signal to a child at a random moment of its run; return how it ended, None if late."""
    pid = child(work)
    time.sleep(float(rng.uniform(0.0, seconds)))
    if os.waitpid(pid, os.WNOHANG)[0]:
        return None
    os.kill(pid, number)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def slowly(record):
    """Make rounds long enough to be hit."""
    time.sleep(0.005)


def killed(rng, best, *, number=signal.SIGKILL):
    """SIGKILL (or SIGTERM) at a random moment: the checkpoint leads to the optimum."""
    backend = str(rng.choice(["clarabel", "ascent", "osqp", "auto"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")

        def work():
            model(backend=backend, checkpoint=path, callbacks=[slowly]).fit(X, Y)

        signalled(work, number, rng, 0.4)
        again = model(backend=backend, checkpoint=path).fit(X, Y).result_
        if again.status != "optimal":
            return f"{backend}: resumed to {again}"
        return holds(again, best)


def terminated(rng, best):
    """SIGTERM as it is: the process ends, the checkpoint is whole."""
    return killed(rng, best, number=signal.SIGTERM)


def told(rng, best, *, number=signal.SIGINT):
    """SIGINT at a random moment of a fit: the model comes back, and can be saved."""
    method = str(rng.choice(["cutting-plane", "cutting-plane", *METHODS]))
    backend = str(rng.choice(["clarabel", "ascent", "osqp", "cvxpy"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "said.json")

        def work():
            begun = []
            settings = {"tol": 0.0, "max_iter": 10**6, "callbacks": [begun.append, slowly]}
            try:
                result = model(method, backend, **settings).fit(X, Y).result_
            except KeyboardInterrupt:  # before the first round: there is nothing to keep
                os._exit(4 if begun else 5)
            found = result.certificate
            path.write_text(json.dumps([result.status, found.primal, found.dual]))

        before = signal.signal(number, signal.default_int_handler)  # a child has it from the start
        try:
            ended = signalled(work, number, rng, 0.5)
        finally:
            signal.signal(number, before)
        if ended in (5, None):  # or it was done before the signal came
            return None
        if ended != 0:
            return f"{method}, {backend}: the fit ended with {ended}"
        status, primal, dual = json.loads(path.read_text())
    if status not in ("interrupted", "stalled", "optimal", "separated"):
        return f"{method}: {status}"
    if method in ("perceptron", "em"):
        return None
    slip = TOL * abs(best)
    within = dual - slip <= best <= primal + slip
    return None if within else f"{method}: bounds {dual}, {primal} miss {best}"


def asked_to_end(rng, best):
    """SIGTERM with the one-line handler of the docs: as Ctrl-C."""
    return told(rng, best, number=signal.SIGTERM)


class Mortal(so.Chain):
    """A chain whose workers may die: its answers are asked for in processes."""

    releases_gil = False


def killed_worker(rng, best):
    """A worker of joblib's is killed in a random round: the pass is made again."""
    when = int(rng.integers(1, 6))
    hit = []

    def kill(record):
        if record.round == when:
            hit.append(int(rng.choice(workers())))
            os.kill(hit[-1], signal.SIGKILL)

    mine = so.StructuredClassifier(
        Mortal(), METHODS["cutting-plane"], backend="clarabel", tol=TOL, n_jobs=2, callbacks=[kill]
    )
    result = mine.fit(X, Y).result_
    return holds(result, best) if hit and result.status == "optimal" else f"{hit}: {result}"


def workers():
    """Return joblib's processes among the children of this one."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(n) for n in listed if "popen_loky" in Path(f"/proc/{n}/cmdline").read_text()]


def holds(result, best):
    """Return what is wrong with a result's bounds, None if nothing is."""
    found = result.certificate
    if best is None:
        return None if found.dual <= found.primal else f"bounds crossed: {found}"
    slip = TOL * abs(best)
    if not found.dual - slip <= best <= found.primal + slip:
        return f"bounds {found.dual}, {found.primal} miss {best}: {result}"
    if result.status == "optimal" and found.primal > best + 2 * slip:
        return f"{found.primal} is optimal, {best} better"
    return None


def twice_interrupted(rng, best):
    """Two SIGINTs shortly after each other: the second ends the round where it is."""
    return interrupted_instruction(rng, best, presses=2)


CAMPAIGNS = {
    "solver faults": solver_fault,
    "hanging solver": hanging,
    "full disk": full_disk,
    "SIGINT at an instruction": interrupted_instruction,
    "SIGINT twice": twice_interrupted,
    "SIGINT at a moment": told,
    "SIGTERM, heard": asked_to_end,
    "SIGTERM": terminated,
    "SIGKILL": killed,
    "killed worker": killed_worker,
}
RARE = {"hanging solver": 5, "killed worker": 5}
"""Those that wait for seconds are run so much more seldom."""


def run(which, count, seed):
    """Run a campaign; return its findings."""
    best, findings = optimum(), []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = CAMPAIGNS[which](rng, best)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
        if said:
            findings.append(f"{which} {number}: {said}")
    return findings


def main():
    """Run the campaigns from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="campaigns whose name contains this")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    every = collections.Counter()
    for which in CAMPAIGNS:
        if arguments.only in which:
            count = max(1, arguments.count // RARE.get(which, 1))
            findings = run(which, count, arguments.seed)
            every[which] = len(findings)
            print(*(found[:300] for found in findings), sep="\n", end="\n" if findings else "")
            print(f"{which}: {count} faults, {len(findings)} findings", flush=True)
    sys.exit(bool(every.total()))


if __name__ == "__main__":
    main()
