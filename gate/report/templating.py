"""Renders the package's templates; jinja2 is imported only when one is rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gate.resources import templates


def render_template(
    name: str, values: Mapping[str, Any], *, html: bool, finalize: Callable[[Any], Any] | None = None
) -> str:
    """Render a template of the package with undefined names as errors.

    html: escape every value for HTML. finalize: applied to every value that is written.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=html,  # noqa: S701 - Markdown has its own escaping, through finalize
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(values)
