"""What actions/upload-artifact does, by the standard library alone, with tests/support/forge/results.py."""

import hashlib
import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path


def main() -> int:
    """Upload what the inputs name; 1 when the service or the inputs do not allow it."""
    wanted = Path(os.environ["WANTED_PATH"])
    hidden = os.environ["WANTED_HIDDEN"] == "true"
    if wanted.is_dir():
        inside = [file for file in sorted(wanted.rglob("*")) if file.is_file()]
        files = [
            file for file in inside if hidden or not any(part[0] == "." for part in file.relative_to(wanted).parts)
        ]
        root = wanted
    else:
        files, root = [wanted] if wanted.is_file() else [], wanted.parent
    if not files:
        return none_found(os.environ["WANTED_NONE"], wanted)
    name = os.environ["WANTED_NAME"]
    if os.environ["WANTED_ARCHIVE"] == "true":
        data = zipped(files, root)
    elif len(files) == 1:
        name, data = files[0].name, files[0].read_bytes()
    else:
        return failed("archive: false is for a single file")
    try:
        made = upload(name, data, overwrite=os.environ["WANTED_OVERWRITE"] == "true")
    except urllib.error.HTTPError as error:
        return failed(f"Failed to upload: {error} {error.read().decode()}")
    run = "/".join(os.environ[name] for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"artifact-id={made}\nartifact-digest={hashlib.sha256(data).hexdigest()}\n")
        file.write(f"artifact-url={run}/actions/runs/{os.environ['GITHUB_RUN_ID']}/artifacts/{made}\n")
    sys.stdout.write(f"Artifact {name} has been successfully uploaded: {len(files)} files, {len(data)} B\n")
    return 0


def none_found(what: str, wanted: Path) -> int:
    """Say that there are no files, as loud as asked for."""
    said = f"No files were found with the provided path: {wanted}. No artifacts will be uploaded."
    if what == "error":
        return failed(said)
    sys.stdout.write(f"::warning::{said}\n" if what == "warn" else f"{said}\n")
    return 0


def failed(why: str) -> int:
    """End the step as an action does."""
    sys.stdout.write(f"::error::{why}\n")
    return 1


def zipped(files: list[Path], root: Path) -> bytes:
    """Pack the files by their names below root."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(root))
    return into.getvalue()


def upload(name: str, data: bytes, *, overwrite: bool) -> str:
    """Hand an artifact in; returns its id."""
    asked = urllib.parse.urlencode({"name": name} | ({"overwrite": "true"} if overwrite else {}))
    address = f"{os.environ['ACTIONS_RESULTS_URL'].rstrip('/')}/artifacts?{asked}"
    headers = {"Authorization": f"Bearer {os.environ['ACTIONS_RUNTIME_TOKEN']}"}
    request = urllib.request.Request(address, data, headers, method="PUT")  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return str(json.load(answer)["id"])


if __name__ == "__main__":
    sys.exit(main())
