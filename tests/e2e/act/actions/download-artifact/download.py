"""What actions/download-artifact does, by the standard library alone, with tests/support/forge/results.py."""

import fnmatch
import io
import json
import os
import sys
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path


def main() -> int:
    """Download what the inputs name, each into a folder of its name unless merged or named."""
    if os.environ["WANTED_RUN"]:
        sys.stdout.write("::error::the stand-in downloads from its own run only\n")
        return 1
    wanted, pattern = os.environ["WANTED_NAME"], os.environ["WANTED_PATTERN"]
    found = json.loads(got())["names"]
    chosen = [name for name in found if (name == wanted if wanted else fnmatch.fnmatchcase(name, pattern or "*"))]
    if wanted and not chosen:
        sys.stdout.write(f"::error::Unable to download artifact(s): Artifact not found for name: {wanted}\n")
        return 1
    top = Path(os.environ["GITHUB_WORKSPACE"], os.environ["WANTED_PATH"] or ".")
    top.mkdir(parents=True, exist_ok=True)
    together = bool(wanted) or os.environ["WANTED_MERGE"] == "true"
    for name in chosen:
        keep(got(name=name), name, top if together else top / name)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"download-path={top}\n")
    sys.stdout.write(f"Total of {len(chosen)} artifact(s) downloaded: {', '.join(chosen)}\n")
    return 0


def keep(data: bytes, name: str, folder: Path) -> None:
    """Unpack a zip; what is none is a file of the artifact's name."""
    folder.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(io.BytesIO(data)):
        zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
    else:
        (folder / name).write_bytes(data)


def got(**asked: str) -> bytes:
    """Ask for one artifact by its name, or for the names of all."""
    address = f"{os.environ['ACTIONS_RESULTS_URL'].rstrip('/')}/artifacts?{urllib.parse.urlencode(asked)}"
    headers = {"Authorization": f"Bearer {os.environ['ACTIONS_RUNTIME_TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:  # noqa: S310
        found: bytes = answer.read()
    return found


if __name__ == "__main__":
    sys.exit(main())
