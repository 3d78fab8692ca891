"""Records of a run: rounds, certificate, result, checkpoint."""
