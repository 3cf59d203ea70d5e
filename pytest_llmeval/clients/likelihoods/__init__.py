"""How likely a given text is, asked of servers of completions.

No interface has a request for it. Two ways round work, and each server is probed before
one of them is trusted: `_echo` has the prompt sent back with its log-probabilities,
`_forced` makes llama.cpp's server write the text token by token.
"""

from __future__ import annotations

from pytest_llmeval.clients.likelihoods._asker import LikelihoodAsker

__all__ = ["LikelihoodAsker"]
