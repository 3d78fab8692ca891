"""Pictures: charts as SVG without a dependency, figures with matplotlib."""
