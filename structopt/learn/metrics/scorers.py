"""Metrics by name, as scikit-learn's model selection takes them.

>>> sorted(SCORES)[:4]
['alignment_error_rate', 'bleu', 'iou', 'labelled_attachment']
>>> scorer("span_f1", average="macro")
scorer('span_f1', average='macro')
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from sklearn.utils.metadata_routing import MetadataRequest

from structopt.errors import InvalidInputError
from structopt.learn.metrics import (
    alignments,
    attachment,
    bleu,
    brackets,
    hierarchies,
    segmentation,
    spans,
    tokens,
)
from structopt.learn.metrics.counted import Counted

SCORES: dict[str, Callable[..., Counted]] = {
    "token_accuracy": lambda: tokens.TOKENS,
    "sequence_accuracy": lambda: tokens.SEQUENCES,
    "span_precision": lambda average="micro": spans.counted(0, average),
    "span_recall": lambda average="micro": spans.counted(1, average),
    "span_f1": lambda average="micro": spans.counted(2, average),
    "unlabelled_attachment": lambda: attachment.UNLABELLED,
    "labelled_attachment": lambda: attachment.LABELLED,
    "parse_f1": lambda: brackets.PARSES,
    "alignment_error_rate": lambda: alignments.ALIGNMENT,
    "bleu": lambda: bleu.TRANSLATIONS,
    "iou": lambda: segmentation.OVERLAP,
    "tree_distance": lambda: hierarchies.DISTANCE,
}
"""Scores by name; ``average`` is chosen before anything is counted."""


def scorer(name: str, **options: Any) -> Scorer:
    """Return a metric as a scorer for ``scoring=``; errors and distances are negated.

    Without options the name alone will do, ``scoring="span_f1"``: see :func:`register`.

    Parameters
    ----------
    name : str
        A function of :mod:`structopt.metrics`, such as "span_f1".
    **options
        Further arguments of that function.

    Examples
    --------
    >>> import structopt as so
    >>> from sklearn.model_selection import cross_val_score
    >>> X, Y = so.datasets.make_chain_crf(n_examples=30, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1))
    >>> len(cross_val_score(model, X, Y, scoring=so.metrics.scorer("sequence_accuracy"), cv=3))
    3
    """
    return Scorer(name, options)


class Scorer:
    """``scorer(model, X, Y)``: the score of a model's predictions, higher is better."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name, self.options = name, options
        lookup(name, options)  # refuses an unknown name before any work
        self._request = MetadataRequest(owner=f"scorer({name!r})")

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Ask for sample weights, as scikit-learn's metadata routing has it."""
        self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what is asked for."""
        return self._request

    def __call__(self, model: Any, X: Any, Y: Sequence[Any], sample_weight: Any = None) -> float:
        """Predict and score; an ``alignment_error_rate`` of 0.1 is -0.1."""
        score, further = lookup(self.name, self.options)
        value = score(Y, model.predict(X), sample_weight, **further)
        return value if score.higher_is_better else -value

    def __repr__(self) -> str:
        given = "".join(f", {k}={v!r}" for k, v in self.options.items())
        return f"scorer({self.name!r}{given})"


def lookup(name: str, options: dict[str, Any]) -> tuple[Counted, dict[str, Any]]:
    """Return a score by name, and the options that its counting takes."""
    if name not in SCORES:
        raise InvalidInputError(f"There is no score {name!r}; choose one of {sorted(SCORES)}.")
    further = dict(options)
    chosen = {"average": further.pop("average")} if "average" in further else {}
    try:
        return SCORES[name](**chosen), further
    except TypeError:
        raise InvalidInputError(f"{name} takes no average; spans do.") from None


def register() -> None:
    """Make scikit-learn know the scores by name, as ``scoring="span_f1"``.

    Its own table has no public door, and its searches keep a copy of the names from when they were
    imported: both are extended. Names of scikit-learn's own are left alone.
    """
    from sklearn.metrics import _scorer

    for name in SCORES:
        _scorer._SCORERS.setdefault(name, Scorer(name, {}))
    for names in _accepted():
        names.update(SCORES)


def _accepted() -> Iterator[set[str]]:
    """Yield the sets of names that searches which are imported already check against."""
    for module in [m for name, m in sys.modules.items() if name.startswith("sklearn.")]:
        for thing in list(vars(module).values()):
            for kept in ("_parameter_constraints", "_skl_parameter_constraints"):
                constraints = getattr(thing, kept, None)
                for one in constraints.get("scoring", ()) if isinstance(constraints, dict) else ():
                    names = getattr(one, "options", None)
                    if isinstance(names, set) and "accuracy" in names:
                        yield names
