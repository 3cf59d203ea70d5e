"""Bodies of tests run ahead of their turn: while one waits for a model, others ask.

Nothing here knows pytest. `Engine` runs bodies, `Routes` keeps apart what they write,
`obstacle` finds those that must not run beside others.
"""

from __future__ import annotations

from pytest_llmeval.ahead._body import Body, Outcome
from pytest_llmeval.ahead._engine import Engine
from pytest_llmeval.ahead._obstacles import obstacle
from pytest_llmeval.ahead._routes import Routes

__all__ = ["Body", "Engine", "Outcome", "Routes", "obstacle"]
