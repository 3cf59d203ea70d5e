from __future__ import annotations

# A user's suite with failures on purpose: test_smoke.py runs a copy of it.
collect_ignore = ["suite"]
