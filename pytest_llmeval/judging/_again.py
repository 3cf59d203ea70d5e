"""The second and last request to a judge whose reply held no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.judging._words import Words
from pytest_llmeval.types import Message, Prompt

__all__ = ["Language", "check_language", "once_more"]

Language = Literal["en", "ja", "de"]

_VERDICT: Final[Mapping[Language, str]] = {
    "en": "No verdict was given. Answer with one line that starts with PASS or FAIL, "
    "followed by a colon and the reason in one sentence.",
    "ja": "判定がまだ示されていません。PASS または FAIL で始め、続けてコロンと一文の理由を"
    "書いた、一行だけの返答をしてください。",
    "de": "Das Urteil fehlt noch. Antworte mit einer Zeile, die mit PASS oder FAIL "
    "beginnt, gefolgt von einem Doppelpunkt und der Begründung in einem Satz.",
}
_LABEL: Final[Mapping[Language, str]] = {
    "en": "Which one of these is your assessment: {labels}? Answer with a single line "
    "that holds just that, word for word.",
    "ja": "あなたの評価は次のうちどれですか: {labels}。該当するもの一つだけを、"
    "一字一句そのまま、一行で答えてください。",
    "de": "Welches davon ist deine Bewertung: {labels}? Antworte mit einer einzigen "
    "Zeile, die nur das enthält, im genauen Wortlaut.",
}


def check_language(language: str) -> Language:
    """Return a language there is.

    Raises:
        ConfigError: There is no text in it.
    """
    for known in get_args(Language):
        if language == known:
            found: Language = known
            return found
    message = (
        f"language is that of the request for a missing verdict, one of "
        f"{', '.join(get_args(Language))}, not {language!r}; the template itself may be "
        f"in any"
    )
    raise ConfigError(message)


def once_more(prompt: Prompt, reply: str, words: Words, language: Language) -> Prompt:
    """Return the prompt that asks for a verdict once more.

    Args:
        prompt: The first request.
        reply: Its reply, which held none; an empty one can't be sent back.
        words: What may be said.
        language: Of the request.
    """
    if words.labels is None:
        text = _VERDICT[language]
    else:
        text = _LABEL[language].format(labels=", ".join(words.labels))
    if reply.strip():
        return Prompt(
            messages=(
                *prompt.messages,
                Message(role="assistant", content=reply),
                Message(role="user", content=text),
            )
        )
    *before, last = prompt.messages
    asked = Message(role=last.role, content=f"{last.content}\n\n{text}")
    return Prompt(messages=(*before, asked))
