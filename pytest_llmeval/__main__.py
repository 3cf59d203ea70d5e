"""Run the command line: ``python -m pytest_llmeval``."""

from __future__ import annotations

from pytest_llmeval.cli import main

raise SystemExit(main())
