"""The small problems of structures."""

import importlib


def small_of(entry):
    """The function ``small`` of a structure's file, or of its room."""
    home = importlib.import_module(f"structopt.{entry.home}")
    if hasattr(home, "small"):
        return home.small
    return importlib.import_module(f"{home.__package__}.small").small
