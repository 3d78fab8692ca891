"""Scores of predictions: labels, spans, trees, alignments, segmentations, translations.

Every score is a function of gold and predicted outputs, and a scorer for scikit-learn's model
selection (:func:`scorer`); :func:`bootstrap_interval` says how sure it is, and
:func:`randomisation_test` whether one model beats another.

BLEU and NIST come from sacrebleu and nltk: ``pip install 'structopt-margin[translation]'``.
"""

from __future__ import annotations

from structopt.learn.metrics.alignments import alignment_error_rate
from structopt.learn.metrics.attachment import labelled_attachment, unlabelled_attachment
from structopt.learn.metrics.bleu import bleu_of_statistics, bleu_statistics, corpus_bleu
from structopt.learn.metrics.brackets import parse_f1
from structopt.learn.metrics.hierarchies import tree_distance
from structopt.learn.metrics.nist import corpus_nist
from structopt.learn.metrics.oracle_paths import oracle_paths
from structopt.learn.metrics.pseudo_references import pseudo_references
from structopt.learn.metrics.resampling import bootstrap_interval, randomisation_test
from structopt.learn.metrics.scorers import scorer
from structopt.learn.metrics.segmentation import iou, iou_by_label
from structopt.learn.metrics.spans import span_f1, span_precision, span_recall, span_report, spans
from structopt.learn.metrics.tokens import confusion, sequence_accuracy, token_accuracy

__all__ = [
    "alignment_error_rate",
    "bleu_of_statistics",
    "bleu_statistics",
    "bootstrap_interval",
    "confusion",
    "corpus_bleu",
    "corpus_nist",
    "iou",
    "iou_by_label",
    "labelled_attachment",
    "oracle_paths",
    "parse_f1",
    "pseudo_references",
    "randomisation_test",
    "scorer",
    "sequence_accuracy",
    "span_f1",
    "span_precision",
    "span_recall",
    "span_report",
    "spans",
    "token_accuracy",
    "tree_distance",
    "unlabelled_attachment",
]
