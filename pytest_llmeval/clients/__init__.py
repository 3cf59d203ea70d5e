"""Where replies come from: the providers behind one seam.

`Clients` builds a backend from a spec and keeps it for the session.
"""

from __future__ import annotations

from pytest_llmeval.clients._base import Backend, Owner, Request
from pytest_llmeval.clients._clients import Clients
from pytest_llmeval.clients._cut import CutAccepted

__all__ = ["Backend", "Clients", "CutAccepted", "Owner", "Request"]
