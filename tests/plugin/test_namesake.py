"""The unrelated distribution that owns the name pytest-llmeval on the index."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_llmeval

if TYPE_CHECKING:
    from tests.conftest import Suite


def test_its_plugin_beside_ours_is_one_usage_error(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its wheel holds __init__.py and plugin.py: the first replaces ours, the second
    # comes to stand beside our folder.
    site = suite.path / "site"
    ours = Path(pytest_llmeval.__file__).parent
    shutil.copytree(ours, site / "pytest_llmeval")
    (site / "pytest_llmeval" / "__init__.py").write_text("", encoding="utf-8")
    (site / "pytest_llmeval" / "plugin.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(site))
    suite.write(test_plain="def test_plain():\n    pass\n")

    result = suite.run_alone()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*two distributions hold the package pytest_llmeval*"])
    assert "pip uninstall -y pytest-llmeval" in result.stderr.str()
    assert sys.modules["pytest_llmeval"] is pytest_llmeval
