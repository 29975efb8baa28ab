"""The page of evidence, of sections of a simulation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gate.commands.simulate.sections import SimulatedSection
from gate.commands.simulate.studies import COMPARED, Results
from gate.document.markdown import row as markdown_row
from gate.writing.plain import wrap

_LINE = 140
"""Columns of a paragraph."""


def introduction(reports: int, command: str) -> tuple[str, ...]:
    """Write what stands above the sections of a document: what it shows, and the command that makes it."""
    words = (
        f"How often perfgate is wrong and how often it sees a change, by simulation: {reports} reports "
        f"behind each number, or {COMPARED:g} times as many single comparisons, or fewer if the text says so. Every "
        "verdict is that of the code that decides a check. This command generates the whole page:"
    )
    return (
        "# Evidence",
        "\n".join(wrap(words, _LINE)),
        f"    {command}",
        "The numbers depend only on the seed, not on the machine, so the same command writes the same page.",
    )


def as_markdown(before: Sequence[str], sections: Sequence[SimulatedSection], results: Results) -> str:
    """Write sections as a Markdown document; before: its paragraphs before the first section."""
    parts = [*before]
    for section in sections:
        parts.append(f"## {section.title}")
        for block in section.blocks:
            if isinstance(block, str):
                parts.append("\n".join(wrap(block, _LINE)))
                continue
            rule = ["---" if i < block.names else "---:" for i in range(len(block.titles))]
            cells = [
                [re.sub(r"[\\|\[\]]", r"\\\g<0>", text).replace("<", "&lt;") for text in line]
                for line in block.texts(results)
            ]
            parts.append("\n".join(markdown_row(*line) for line in (block.titles, rule, *cells)))
    return "\n\n".join(parts) + "\n"
