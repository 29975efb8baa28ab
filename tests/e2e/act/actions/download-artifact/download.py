"""What actions/download-artifact does, in the service's own protocol, by the standard library alone."""

from __future__ import annotations

import base64
import fnmatch
import io
import json
import os
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

SERVICE = "twirp/github.actions.results.api.v1.ArtifactService"


def main() -> int:
    """Download what the inputs name, each into a folder of its name unless merged or named."""
    if os.environ["WANTED_RUN"]:
        sys.stdout.write("::error::the stand-in downloads from its own run only\n")
        return 1
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    scope = next(one for one in claims["scp"].split() if one.startswith("Actions.Results:"))
    run, job = scope.split(":")[1:]
    ids = {"workflow_run_backend_id": run, "workflow_job_run_backend_id": job}
    wanted, pattern = os.environ["WANTED_NAME"], os.environ["WANTED_PATTERN"]
    found = [one["name"] for one in call("ListArtifacts", ids, token)["artifacts"]]
    chosen = [name for name in found if (name == wanted if wanted else fnmatch.fnmatchcase(name, pattern or "*"))]
    if wanted and not chosen:
        sys.stdout.write(f"::error::Unable to download artifact(s): Artifact not found for name: {wanted}\n")
        return 1
    top = Path(os.environ["GITHUB_WORKSPACE"], os.environ["WANTED_PATH"] or ".")
    top.mkdir(parents=True, exist_ok=True)
    together = bool(wanted) or os.environ["WANTED_MERGE"] == "true"
    for name in chosen:
        place = call("GetSignedArtifactURL", {**ids, "name": name}, token)["signed_url"]
        with urllib.request.urlopen(place) as answer:  # noqa: S310
            data = answer.read()
        keep(data, name, top if together else top / name)
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


def call(method: str, asked: dict[str, Any], token: str) -> Any:
    """Call the service."""
    place = f"{os.environ['ACTIONS_RESULTS_URL'].rstrip('/')}/{SERVICE}/{method}"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(place, json.dumps(asked).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
