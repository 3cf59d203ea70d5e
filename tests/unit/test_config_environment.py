from __future__ import annotations

import os
import threading
from urllib.request import getproxies

import pytest

from pytest_llmeval.config.environment import environment, steadily


def test_the_environment_is_copied_with_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLMEVAL_A", "1")

    found = environment(LLMEVAL_B="2")

    assert (found["LLMEVAL_A"], found["LLMEVAL_B"]) == ("1", "2")
    assert "LLMEVAL_B" not in os.environ


def test_a_variable_that_comes_and_goes_trips_nobody() -> None:
    is_over = threading.Event()

    def flicker() -> None:
        while not is_over.is_set():
            os.environ["LLMEVAL_FLICKER"] = "1"
            del os.environ["LLMEVAL_FLICKER"]

    thread = threading.Thread(target=flicker)
    thread.start()
    try:
        for _ in range(2000):
            steadily(getproxies)
            environment()
    finally:
        is_over.set()
        thread.join()


def test_what_is_gone_for_good_is_told() -> None:
    def look() -> None:
        raise KeyError("GONE")

    with pytest.raises(KeyError, match="GONE"):
        steadily(look)
