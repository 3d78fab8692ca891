"""The tables and figures of the papers, one command each: ``structopt reproduce``."""
