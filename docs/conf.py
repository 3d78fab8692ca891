"""The site: `python -m sphinx -W -b html docs docs/_build/html`, without network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import structopt  # noqa: E402

project = "structopt"
author = "the structopt authors"
version = release = structopt.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # our own, in docs/_ext
    "lesson_pages",
    "mathml",
    "plain_formulas",
    "reference",
    "repository_links",
]
root_doc = "index"
suppress_warnings = ["myst.header"]  # pages that `structopt reproduce` writes begin below a title
exclude_patterns = [
    "_build",
    "**/.ipynb_checkpoints",
    "auto_examples/*.ipynb",
    "auto_examples/*.py",
]

# ------------------------------------------------------------------ Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# ------------------------------------------------------------------ API reference
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# ------------------------------------------------------------------ gallery
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]+\.py$",
    "image_scrapers": ("saved_figures.scraper",),
    "reset_modules": (),  # the examples draw without pyplot, and keep nothing
    "within_subsection_order": "ExampleTitleSortKey",
    "plot_gallery": "True",
    "min_reported_time": 5,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "nested_sections": False,
    "write_computation_times": False,
}

# ------------------------------------------------------------------ looks
html_theme = "pydata_sphinx_theme"
html_title = "structopt"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "structopt"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "changelog": []}
copyright = "the structopt authors, BSD-3-Clause"
