# The only commands anyone needs; CI calls the same.
.PHONY: install fmt lint types test check docs

install:
	python -m pip install -e ".[dev]"
	pre-commit install

fmt:
	ruff check --fix .
	ruff format .

lint:
	ruff check .
	ruff format --check .

types:
	mypy

test:
	python -m pytest

# Coverage starts before pytest: a plugin is imported too early for pytest-cov.
check: lint types
	coverage erase
	coverage run -m pytest
	coverage combine --quiet
	coverage report

# The documentation as a site, in site/. Needs the extra "docs"; nothing is fetched.
docs:
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict
