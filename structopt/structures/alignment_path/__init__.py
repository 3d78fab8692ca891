"""Alignments of two sequences by edit operations with affine gaps."""
