"""What is kept on disk: journals of runs, recordings, the cache."""

from __future__ import annotations
