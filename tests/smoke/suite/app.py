from __future__ import annotations


def count_letters(question: str) -> str:
    if question == "?":
        message = "there is nothing to count"
        raise ValueError(message)
    return f"It has {len(question)} letters."


def grade(prompt: str) -> str:
    return "FAIL: it names a lake" if "Lake Geneva" in prompt else "PASS: it is right"
