"""From how the cases of a run ended to what the run comes to.

One path for a run that ends, a journal that is read, and several that are united: the
records, what they are held to (`Terms`), what the suite holds (`Collected`) and how
pytest ended (`Ended`) give gates, comparison and exit status (`Conclusion`).
"""

from __future__ import annotations

from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.conclusion._conclude import Conclusion, conclude
from pytest_llmeval.conclusion._gates import quality_gates
from pytest_llmeval.conclusion._journal import Aggregates, KeptRun
from pytest_llmeval.conclusion._merge import merged
from pytest_llmeval.conclusion._save import save_baseline
from pytest_llmeval.conclusion._terms import Ended, Terms

__all__ = [
    "Aggregates",
    "Collected",
    "Conclusion",
    "Ended",
    "KeptRun",
    "Terms",
    "conclude",
    "merged",
    "quality_gates",
    "save_baseline",
]
