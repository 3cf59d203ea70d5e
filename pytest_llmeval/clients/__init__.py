"""Where replies come from: the providers behind one seam.

`Clients` builds a backend from a spec and keeps it for the session.
"""

from __future__ import annotations

from pytest_llmeval.clients._base import (
    Backend,
    GivenText,
    Owner,
    Request,
    never_waits,
    sent_by,
)
from pytest_llmeval.clients._clients import Clients
from pytest_llmeval.clients._cut import CutAccepted
from pytest_llmeval.clients._embeddings import without_embeddings
from pytest_llmeval.clients._given import is_able, without_likelihoods
from pytest_llmeval.clients._shared_file import remove_shared
from pytest_llmeval.clients.forecast import Forecast
from pytest_llmeval.clients.panel import Panel, members_of
from pytest_llmeval.clients.spending import Spending

__all__ = [
    "Backend",
    "Clients",
    "CutAccepted",
    "Forecast",
    "GivenText",
    "Owner",
    "Panel",
    "Request",
    "Spending",
    "is_able",
    "members_of",
    "never_waits",
    "remove_shared",
    "sent_by",
    "without_embeddings",
    "without_likelihoods",
]
