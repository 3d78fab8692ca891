"""Machine translation: BLEU and NIST of translations, and pseudo-references from n-best lists.

The scores come from sacrebleu and nltk: ``pip install 'structopt-margin[translation]'``.
"""

from __future__ import annotations

from structopt.learn.metrics.bleu import bleu_of_statistics, bleu_statistics, corpus_bleu
from structopt.learn.metrics.nist import corpus_nist
from structopt.learn.metrics.pseudo_references import pseudo_references

__all__ = [
    "bleu_of_statistics",
    "bleu_statistics",
    "corpus_bleu",
    "corpus_nist",
    "pseudo_references",
]
