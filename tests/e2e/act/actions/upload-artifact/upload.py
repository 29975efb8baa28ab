"""What actions/upload-artifact does, in the service's own protocol, by the standard library alone."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

SERVICE = "twirp/github.actions.results.api.v1.ArtifactService"


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
        data, kind = zipped(files, root), "application/zip"
    elif len(files) == 1:
        name, data, kind = files[0].name, files[0].read_bytes(), "text/html"
    else:
        return failed("archive: false is for a single file")
    try:
        made = upload(name, data, kind, overwrite=os.environ["WANTED_OVERWRITE"] == "true")
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


def upload(name: str, data: bytes, kind: str, *, overwrite: bool) -> str:
    """Hand an artifact in; returns its id."""
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    padded = token.split(".")[1] + "=="
    scope = next(
        one for one in json.loads(base64.urlsafe_b64decode(padded))["scp"].split() if one.startswith("Actions.Results:")
    )
    run, job = scope.split(":")[1:]
    ids = {"workflow_run_backend_id": run, "workflow_job_run_backend_id": job, "name": name}
    if overwrite:
        try:
            call("DeleteArtifact", ids, token)
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
    place = call("CreateArtifact", {**ids, "version": 7, "mime_type": kind}, token)["signed_upload_url"]
    request = urllib.request.Request(place, data, {"x-ms-blob-type": "BlockBlob"}, method="PUT")  # noqa: S310
    with urllib.request.urlopen(request):  # noqa: S310
        pass
    sums = {"size": str(len(data)), "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
    return str(call("FinalizeArtifact", {**ids, **sums}, token)["artifact_id"])


def call(method: str, asked: dict[str, Any], token: str) -> Any:
    """Call the service."""
    place = f"{os.environ['ACTIONS_RESULTS_URL'].rstrip('/')}/{SERVICE}/{method}"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(place, json.dumps(asked).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
