"""One label of K."""
