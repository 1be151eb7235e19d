"""``python -m dpstats`` is the command line."""

import sys

from dpstats.cli import main

sys.exit(main())
