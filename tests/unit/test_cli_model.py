"""model: the weights of an embedded model; nothing here downloads any."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_llmeval.cli import main
from pytest_llmeval.clients import models
from pytest_llmeval.clients.models import Weights


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, with pip cut off from any index."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_INPUT", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    folder = tmp_path / "pytest-llmeval" / "models"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Weights:
    weights = Weights(
        file="tiny.gguf",
        file_sha256=hashlib.sha256(b"weights").hexdigest(),
        requirement="no-such-package-of-ours==0.0.1",
        wheel_sha256="0" * 64,
        member="tiny/tiny.gguf",
        licence="MIT",
    )
    monkeypatch.setitem(models.MODELS, "tiny", weights)
    return weights


def test_weights_that_are_there_are_named(
    tiny: Weights, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cache / "tiny.gguf").write_bytes(b"weights")

    assert main(["model", "tiny"]) == 0
    assert capsys.readouterr().out == f"{cache / 'tiny.gguf'} (7 bytes, MIT)\n"


def test_other_weights_that_can_not_be_replaced_are_an_error_and_stay(
    tiny: Weights, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cache / "tiny.gguf").write_bytes(b"something else")

    assert main(["model", "tiny"]) == 1

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "pip can't download no-such-package-of-ours==0.0.1: ERROR: " in captured.err
    assert [path.name for path in cache.iterdir()] == ["tiny.gguf"]


def test_an_unknown_model_is_a_mistake_in_the_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["model", "smollm"]) == 2
    assert capsys.readouterr().err == (
        "there is no embedded model 'smollm' (did you mean 'smollm2'?); there are: "
        "smollm2\n"
    )


def test_the_help_names_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["model", "--help"])

    assert "one of: smollm2" in capsys.readouterr().out
