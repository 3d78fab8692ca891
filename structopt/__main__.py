"""``python -m structopt`` is the command ``structopt``."""

import sys

from structopt.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
