"""A solver for linear and quadratic programmes of our own: Korpelevich's extragradient method."""
