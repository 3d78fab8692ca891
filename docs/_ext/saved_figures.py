"""Figures of the gallery: the PNG that each example saves where it runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any


def scraper(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the PNG files of an example to the gallery; return the text that shows them."""
    from sphinx_gallery.scrapers import figure_rst

    places = []
    for path in sorted(Path(block_vars["src_file"]).parent.glob("*.png")):
        places.append(next(block_vars["image_path_iterator"]))
        shutil.move(path, places[-1])
    return figure_rst(places, gallery_conf["src_dir"])
