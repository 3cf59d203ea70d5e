"""Words cut to their stems, by the algorithms of Snowball (extra ``stemming``)."""

from __future__ import annotations

import re
from typing import Final

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.metrics._extras import needed
from pytest_llmeval.metrics._steps import NamedStep

__all__ = ["stemming_step"]

_WORD: Final = re.compile(r"[^\W\d_]+")


def stemming_step(language: str) -> NamedStep:
    """Return the step that replaces each word by its stem; letter case must be gone.

    Args:
        language: A name of Snowball's: ``english``, ``german``, ``porter``, ...

    Raises:
        ConfigError: There is no such language.
        MissingExtraError: snowballstemmer isn't installed.
    """
    needed("snowballstemmer", extra="stemming", metric="the step 'stem'")
    import snowballstemmer

    languages = snowballstemmer.algorithms()
    if language not in languages:
        message = (
            f"there is no stemmer for {language!r}{did_you_mean(language, languages)}; "
            f"there are: {', '.join(sorted(languages))}"
        )
        raise ConfigError(message)

    def stemmed(text: str) -> str:
        # One for each text: it keeps the word it works on, and tests run in threads.
        stem = snowballstemmer.stemmer(language).stemWord
        return _WORD.sub(lambda match: stem(match.group()), text)

    return NamedStep("endings", stemmed)
