"""What the package index shows of perfgate: README.md with links that work there. Run by hatchling in each build."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Description(MetadataHookInterface):
    """Gives the packages' metadata its `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Take README.md; its links lead to the tag of this version."""
        top = Path(self.root)
        # a build in isolation cannot import from the folder that it builds
        absolute = runpy.run_path(str(top / "scripts" / "release" / "links.py"))["absolute"]
        text = absolute((top / "README.md").read_text(encoding="utf-8"), f"v{metadata['version']}", page="README.md")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
