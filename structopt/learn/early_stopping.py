"""Stopping a run when a validation set says that it has learned enough."""

from __future__ import annotations

from typing import Any

from structopt.errors import InvalidInputError
from structopt.learn.predictor import accuracy
from structopt.methods.method import Method
from structopt.methods.watcher import Iterate
from structopt.parameters import Count, checked
from structopt.run.events import Round


class EarlyStopping:
    """A callback that stops a run when its weights no longer get better on validation data.

    After every round the weights of that round are scored. When ``patience`` rounds in a row have
    not beaten the best score, the run stops with status "early_stopping" and returns the weights
    that had it; the certificate is theirs (their objective, which may be far from the optimum) and
    says so. A run that reaches its tolerance or a limit before that returns its best objective.

    Parameters
    ----------
    X_val, Y_val : sequences
        Validation data.
    patience : int or None
        Rounds without an improvement after which the run stops. None only looks: the run goes on
        to its own end, whatever that is, and returns the weights that had the best score.
    min_improvement : float
        What a score must be better by to count.

    Attributes
    ----------
    scores : list of float
        The score of every round.
    best_score : float
        The highest of them.
    best_round : int
        The round, 1, 2, ..., that had it first.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(n_examples=60, seed=0)
    >>> stop = so.EarlyStopping(X[40:], Y[40:], patience=3)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=10.0), tol=1e-6, callbacks=[stop])
    >>> result = model.fit(X[:40], Y[:40]).result_
    >>> result.status, len(result.history) == stop.best_round + 3
    ('early_stopping', True)
    >>> model.score(X[40:], Y[40:]) == stop.best_score == max(stop.scores)
    True
    """

    @checked
    def __init__(
        self, X_val: Any, Y_val: Any, *, patience: Count | None = 5, min_improvement: float = 0.0
    ) -> None:
        self.X_val, self.Y_val = X_val, Y_val
        self.patience, self.min_improvement = patience, min_improvement
        self._forget()

    def _forget(self) -> None:
        self.scores: list[float] = []
        self.best_score, self.best_round = -float("inf"), 0
        self._method: Method | None = None
        self._best: Iterate | None = None
        self._stopped = False

    def start(self, method: Method) -> None:
        """Begin afresh with a run."""
        self._forget()
        self._method = method

    def __call__(self, record: Round) -> bool:
        """Score the weights of a round; True once patience has run out."""
        if self._method is None:
            raise InvalidInputError(
                "EarlyStopping heard of a round before the run began: use it as a callback of a "
                "model, or call its start(method)."
            )
        structure, here = self._method.structure, self._method.iterate()
        predicted = structure.predict(self.X_val, here.weights)
        self.scores.append(accuracy(structure, self.Y_val, predicted))
        if self.scores[-1] > self.best_score + self.min_improvement:
            self.best_score, self.best_round = self.scores[-1], len(self.scores)
            self._best = here._replace(weights=here.weights.copy())
        waited = len(self.scores) - self.best_round
        self._stopped = self.patience is not None and waited >= self.patience
        return self._stopped

    def kept(self) -> tuple[Iterate, str] | None:
        """Return the best weights, if this callback stopped the run or only looks."""
        looks = self.patience is None
        if not (self._stopped or looks) or self._best is None:
            return None
        note = (
            f"{'chosen' if looks else 'stopped early'}: the weights of round {self.best_round}, "
            f"which score {self.best_score:.4g} on validation data"
        )
        return self._best, note
