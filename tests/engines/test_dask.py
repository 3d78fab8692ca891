"""A real local Dask cluster, workers in processes of their own: the same optimum, by questions."""

import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import cloudpickle
import dask
import dask.bag
import distributed
import numpy as np
import pytest
from sklearn.base import clone

import structopt as so
from structopt.engines import local_dask
from structopt.errors import EngineError, IncompatibleError, InvalidInputError
from structopt.methods import registry

N = 40
PLAIN = {"dashboard_address": ":0"}


def examples(seed=0):
    return so.datasets.make_chain_crf(N, length=4, n_features=6, n_relevant=3, seed=seed)


X, Y = examples()
STRUCTURE = so.Chain().fitted(X, Y)


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as connected:
        yield connected


@pytest.fixture(scope="module")
def data(client):
    return so.DataSet.of(STRUCTURE, X, Y, engine=client)


@pytest.fixture(scope="module")
def here():
    return so.DataSet.of(STRUCTURE, X, Y)


def certified(formulation, data, **limits):
    run = so.CuttingPlane(STRUCTURE, formulation, data, tol=1e-6, **limits)
    result = run.solve()
    assert result.certificate.certified
    return result


@pytest.mark.parametrize(
    "formulation",
    [
        so.M3N(C=0.1),
        so.StructSVM(C=0.1, slacks="one"),
        so.M3N(C=0.1, slacks="shards"),
        so.LPStruct(C=0.1),
        so.L1M3N(C=0.1),
        so.StructRMM(C=0.1, B=2.0),
    ],
    ids=["n-slack", "1-slack", "a slack a shard", "LPStruct", "L1M3N", "StructRMM"],
)
def test_the_certified_optimum_is_that_of_one_process(formulation, data, here):
    there, alone = certified(formulation, data), certified(formulation, here)
    near = 3e-6 * abs(alone.certificate.primal)
    assert abs(there.certificate.primal - alone.certificate.primal) <= near
    assert there.certificate.dual <= alone.certificate.primal + near
    assert all(r.bytes_down > 0 and r.bytes_up > 0 for r in there.history)
    assert not any(r.bytes_down or r.bytes_up for r in alone.history)


def kill_one(client):
    """Kill the process of a worker, as the kernel does when memory runs out."""
    _, pid = next(iter(client.run(os.getpid).items()))
    os.kill(pid, signal.SIGKILL)


def test_a_worker_that_dies_costs_its_shards_and_not_the_run(client, here):
    rebuilt = so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask(client, timeout=60.0), n_jobs=4)
    killed = []

    def callback(record):
        if record.round == 2:
            killed.append(kill_one(client))

    there = certified(so.M3N(C=0.1), rebuilt, callbacks=[callback])
    alone = certified(so.M3N(C=0.1), here)
    assert killed
    assert len(there.history) > 2
    assert there.certificate.primal == pytest.approx(alone.certificate.primal, rel=3e-6)
    client.wait_for_workers(2, timeout=60)


def outgoing(client):
    """What workers have sent to anyone, as Dask counts it."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def test_a_pass_moves_losses_and_scores_and_no_data(client):
    n, rng = 2000, np.random.default_rng(0)
    inputs = [rng.normal(size=(4, 6)) for _ in range(n)]
    many = so.DataSet.of(STRUCTURE, inputs, [Y[0]] * n, engine=client)
    weights = np.ones(many.n_features)
    many.ask(so.loss_augmented, weights)
    before, ours = outgoing(client), many.traffic
    answers = many.ask(so.loss_augmented, weights)
    moved = outgoing(client) - before
    assert 16 * n <= moved <= 16 * n + 4 * weights.nbytes + 20_000
    assert many.traffic.up - ours.up == 16 * n
    assert many.traffic.down - ours.down == weights.nbytes
    before = outgoing(client)
    many.combined(answers, np.arange(n), np.ones(n), np.array([0, n]))
    assert outgoing(client) - before <= 4 * weights.nbytes + 20_000  # one vector, however large n


def test_questions_have_the_answers_of_one_process(data, here):
    weights = np.random.default_rng(0).normal(size=here.n_features)
    there, alone = data.ask(so.loss_augmented, weights), here.ask(so.loss_augmented, weights)
    assert len(there) == 2
    for name in ("loss", "score"):
        joined = np.concatenate([getattr(a, name) for a in there])
        assert np.array_equal(joined, getattr(alone[0], name))
    assert data.outputs(STRUCTURE, there) == here.outputs(STRUCTURE, alone)
    which, factors = np.array([0, 3, 19, 20, 39]), np.arange(5.0)
    rows, base = data.deltas(there, which)
    expected, own = here.deltas(alone, which)
    n = here.n_features
    assert np.allclose(rows.tocsr(base, n).toarray(), expected.tocsr(own, n).toarray())
    for edges in ([0, 5], [0, 3, 3, 5], [0, 1, 2, 3, 4, 5]):
        total = here.combined(alone, which, factors, np.array(edges)).toarray()
        found = data.combined(there, which, factors, np.array(edges)).toarray()
        assert np.allclose(found, total)
    none = np.zeros(0, dtype=np.int64)
    assert data.combined(there, none, np.zeros(0), np.zeros(2, np.int64)).shape == (1, n)
    assert len(data.deltas(there, none)[0]) == 0
    assert data.term_size(weights) == here.term_size(weights)
    assert data.fingerprint("a") != data.fingerprint("b")
    assert not data.unknown.any()
    assert data.note() == here.note()


def test_the_sum_of_many_shards_is_summed_in_a_tree(client, here):
    weights = np.ones(here.n_features)
    every = so.DataSet.of(STRUCTURE, X, Y, engine=client, n_jobs=20)
    sums = np.arange(N), np.linspace(0.0, 1.0, N), np.array([0, 7, N])
    found = every.combined(every.ask(so.loss_augmented, weights), *sums)
    expected = here.combined(here.ask(so.loss_augmented, weights), *sums)
    assert np.allclose(found.toarray(), expected.toarray())


# ---------------------------------------------------------------------- chunks
def chunked(kind, client):
    pairs = [examples(seed) for seed in (1, 2)]
    if kind == "functions":
        return [partial(so.datasets.make_chain_crf, N, length=4, n_features=6, n_relevant=3, seed=s)
                for s in (1, 2)]  # fmt: skip
    if kind == "delayed":
        return [dask.delayed(pair) for pair in pairs]
    if kind == "futures":
        return [client.submit(pickle.loads, pickle.dumps(pair)) for pair in pairs]
    flat = [(x, y) for X, Y in pairs for x, y in zip(X, Y, strict=True)]
    return dask.bag.from_sequence(flat, npartitions=2)


@pytest.mark.parametrize("kind", ["functions", "delayed", "futures", "bag"])
def test_chunks_become_shards_on_the_workers(kind, client):
    there = so.DataSet.of_chunks(STRUCTURE, chunked(kind, client), engine=client)
    first, second = examples(1), examples(2)
    whole = [list(a) + list(b) for a, b in zip(first, second, strict=True)]
    alone = so.DataSet.of(STRUCTURE, *whole)
    assert there.n_examples == alone.n_examples == 2 * N
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), tol=1e-4)
    model.learn(STRUCTURE, there)
    assert model.result_.certificate.certified
    assert model.result_.method == "cutting-plane"
    expected = certified(so.M3N(C=0.1), alone).certificate.primal
    assert model.result_.certificate.primal == pytest.approx(expected, rel=2e-4)
    assert len(model.predict(X)) == N


def test_chunks_in_this_process(client):
    here = so.DataSet.of_chunks(STRUCTURE, [partial(pickle.loads, pickle.dumps(examples(1)))])
    lazy = so.DataSet.of_chunks(STRUCTURE, [dask.delayed(examples(1))])
    assert here.fingerprint("") == lazy.fingerprint("")
    with pytest.raises(EngineError, match="Chunk 0 of 1 could not be read: FileNotFoundError"):
        so.DataSet.of_chunks(STRUCTURE, [partial(open, "/no/such/file")])


def test_bad_chunks(client):
    good = chunked("functions", client)[0]
    of = partial(so.DataSet.of_chunks, STRUCTURE, engine=client)
    with pytest.raises(InvalidInputError, match="fitted structure"):
        so.DataSet.of_chunks(so.Chain(), [good], engine=client)
    with pytest.raises(InvalidInputError, match="at least one"):
        of([])
    with pytest.raises(InvalidInputError, match="Chunk 1 of 2 is an object of type int"):
        of([good, 3])
    with pytest.raises(EngineError, match=r"Shard 1 of 2 .* FileNotFoundError") as caught:
        of([good, partial(open, "/no/such/file")])
    assert caught.value.shard == 1
    with pytest.raises(InvalidInputError, match=r"a pair \(X, Y\)"):
        of([good, partial(list, "abc")])
    other = partial(so.datasets.make_chain_crf, 5, length=4, n_features=7, n_relevant=3, seed=0)
    with pytest.raises(InvalidInputError, match="7") as wide:
        of([good, other])
    assert str(wide.value).startswith("In shard 1 of 2: ")
    assert "that the structure was fitted on" in str(wide.value)
    with pytest.raises(EngineError, match=r"Shard 0 of 1 .*smaller shards"):
        of([partial(os._exit, 1)])
    client.wait_for_workers(2, timeout=60)


# ---------------------------------------------------------------------- engines that are not there
def test_a_module_that_workers_lack_is_named(client, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def read():\n    return [], []\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with pytest.raises(EngineError, match=r"lack a package .*only_here"):
        so.DataSet.of_chunks(STRUCTURE, [only_here.read], engine=client)


def test_clusters_that_are_not_there():
    with pytest.raises(EngineError, match=r"No Dask scheduler answers at tcp://127.0.0.1:9"):
        so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask("tcp://127.0.0.1:9", timeout=0.5))
    with pytest.raises(InvalidInputError, match="Unknown engine 'cloud'"):
        so.DataSet.of(STRUCTURE, X, Y, engine="cloud")
    with pytest.raises(InvalidInputError, match="Unknown engine 3"):
        so.StructuredClassifier(so.Chain(), so.M3N(), engine=3).fit(X, Y)
    with pytest.raises(InvalidInputError, match="must be a Dask Client"):
        so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask(3))
    with pytest.raises(InvalidInputError, match="n_jobs is 0"):
        so.DataSet.of(STRUCTURE, X, Y, engine="dask", n_jobs=0)


@pytest.fixture
def threads():
    """A cluster in threads of this process, to be ruined."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as started,
        distributed.Client(started, set_as_default=False) as connected,
    ):
        yield started, connected


def test_all_workers_gone_is_an_error_with_the_best_model(threads):
    started, connected = threads
    data = so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask(connected, timeout=2.0))

    def callback(record):
        if record.round == 2:
            started.scale(0)
            started.sync(started._correct_state)

    run = so.CuttingPlane(STRUCTURE, so.M3N(C=0.1), data, tol=1e-9, callbacks=[callback])
    with pytest.raises(EngineError, match="no worker is left") as caught:
        run.solve()
    assert caught.value.shard == 0
    best = caught.value.result
    assert np.isfinite(best.certificate.primal)
    assert best.weights.shape == (data.n_features,)
    with pytest.raises(EngineError, match=r"no worker for 0.2 s"):
        so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask(connected, timeout=0.2))


def test_a_client_that_was_closed(threads):
    _, connected = threads
    data = so.DataSet.of(STRUCTURE, X, Y, engine=connected)
    connected.close()
    with pytest.raises(EngineError, match="client"):
        data.ask(so.loss_augmented, np.zeros(data.n_features))
    with pytest.raises(EngineError, match="is it closed"):
        so.DataSet.of(STRUCTURE, X, Y, engine=connected)


# ---------------------------------------------------------------------- who asks
ASKS = ("cutting-plane", "em")
"""Methods that only ask; the second is cutting planes on other masters."""


@pytest.mark.parametrize("name", [n for n in registry.names() if n not in ASKS])
def test_methods_that_need_the_data_refuse_before_any_work(name, data):
    with pytest.raises(IncompatibleError, match="live on other machines"):
        registry.make(name)(STRUCTURE, so.M3N(C=0.1, slacks="n"), data)


def test_em_only_asks(data):
    run = registry.make("em")(STRUCTURE, so.L1M3N(C=0.1), data, tol=1e-2, max_iter=3)
    assert run.solve().history[-1].bytes_up > 0


def test_outer_loops_refuse(data):
    with pytest.raises(IncompatibleError, match="live on other machines"):
        registry.make("outer")(STRUCTURE, so.RampLoss(so.M3N(C=0.1)), data).solve()


def test_a_model_takes_an_engine(client, tmp_path):
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), tol=1e-4, engine=client)
    alone = clone(model).set_params(engine=None).fit(X, Y)
    assert clone(model).engine is client
    model.fit(X, Y)
    assert model.result_.method == "cutting-plane"
    assert model.result_.certificate.certified
    expected = alone.result_.certificate.primal
    assert model.result_.certificate.primal == pytest.approx(expected, rel=2e-4)
    assert pickle.loads(pickle.dumps(model)).engine is None
    model.save(tmp_path / "model.npz")
    again = so.load_model(tmp_path / "model.npz")
    assert again.engine is None
    assert again.predict(X) == model.predict(X)
    assert again.result_.history[0].bytes_up == model.result_.history[0].bytes_up > 0
    path = so.fit_path(model, X, Y, [0.05, 0.1])
    assert path.models[-1].result_.certificate.certified


def test_an_address_and_a_client_that_is_there(cluster, client):
    client.wait_for_workers(2, timeout=60)  # one that was killed comes back
    for engine in (cluster.scheduler_address, "dask"):
        with client.as_current():
            data = so.DataSet.of(STRUCTURE, X, Y, engine=engine)
        with data:
            assert len(data.ask(so.loss_augmented, np.zeros(data.n_features))) == 2
        with pytest.raises(EngineError, match="closed"):
            data.ask(so.loss_augmented, np.zeros(data.n_features))
    assert client.status == "running"


def test_a_local_cluster_is_started_said_so_and_closed(caplog):
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), engine="dask", n_jobs=1)
    with caplog.at_level(logging.WARNING, logger="structopt"):
        model.fit(X, Y)
    assert model.result_.certificate.certified
    (address,) = re.findall("started a local cluster, 1 workers, at (.*)", caplog.text)
    with pytest.raises(EngineError, match="No Dask scheduler answers"):  # it was closed
        so.Dask(address, timeout=1.0).connect(None)


def test_a_local_cluster_sees_the_settings_and_ends_with_who_started_it(tmp_path):
    (tmp_path / "near.py").write_text("import structopt as so\nclass Mine(so.Chain): pass\n")
    (tmp_path / "script.py").write_text(
        """
import os, dask, structopt as so, near
from structopt.engines.local_dask import LocalDask
X, Y = so.datasets.make_chain_crf(6, length=4, n_features=6, n_relevant=3, seed=0)
structure = near.Mine().fitted(X, Y)
dask.config.set({"distributed.worker.daemon": False})
data = so.DataSet.of(structure, X, Y, engine="dask", n_jobs=1)  # no guard of __main__ is needed
client = data._engine.client
found = client.run(lambda: (__import__("dask").config.get("distributed.worker.daemon"),
                            __import__("os").getppid(), __import__("os").getpid()))
((daemon, *pids),) = found.values()
print(daemon, data._engine._opened[1]._process.pid, *pids, flush=True)
os._exit(9)  # as one that is killed
"""
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr
    daemon, *pids = done.stdout.split()
    assert daemon == "False"
    late = time.monotonic() + 30
    while any(map(_lives, map(int, pids))) and time.monotonic() < late:
        time.sleep(0.05)
    assert not any(map(_lives, map(int, pids)))


def _lives(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_a_local_cluster_that_does_not_come_up(monkeypatch):
    monkeypatch.setattr(local_dask, "_SCRIPT", "raise SystemExit(3)")
    with pytest.raises(EngineError, match="No local Dask cluster came up"):
        so.DataSet.of(STRUCTURE, X, Y, engine="dask")
    monkeypatch.setattr(local_dask, "_SCRIPT", "import time; time.sleep(60)")
    with pytest.raises(EngineError, match=r"within 0\.2 s"):
        so.DataSet.of(STRUCTURE, X, Y, engine=so.Dask(timeout=0.2))


class Liar(so.Chain):
    """Forgets the loss."""

    def argmax(self, x, weights, *, gold=None):
        return super().argmax(x, weights)


def test_a_structure_of_the_users_own_is_checked_where_it_is(client):
    cloudpickle.register_pickle_by_value(__import__(__name__))
    try:
        structure = Liar().fitted(X, Y)
        data = so.DataSet.of(structure, X, Y, engine=client)
        with pytest.raises(so.errors.OracleError):
            so.CuttingPlane(structure, so.M3N(C=0.1), data).solve()
    finally:
        cloudpickle.unregister_pickle_by_value(__import__(__name__))


@pytest.mark.parametrize("engine", ["this process", "threads", "processes"])
def test_engines_of_one_machine(engine, here):
    data = so.DataSet.of(STRUCTURE, X, Y, engine=engine, n_jobs=1)
    assert len(data.shards) == 1
    weights = np.ones(here.n_features)
    (one,), (two,) = (d.ask(so.loss_augmented, weights) for d in (data, here))
    assert np.array_equal(one.score, two.score)


def test_this_process_works_alone():
    with pytest.raises(InvalidInputError, match="works alone"):
        so.DataSet.of(STRUCTURE, X, Y, engine="this process", n_jobs=2)
