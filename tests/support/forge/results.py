"""The service that a running job hands its artifacts to: what actions/upload-artifact and download-artifact speak.

A job has a token for it, different from the API's. Names are made once: an artifact is deleted before it is made anew.
What is finished stands in the REST API from then on, and in the `artifacts` of the fake.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from tests.support.forge.answers import Answer
from tests.support.forge.state import Artifact, Seen, State

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"
JOB = "00000000-0000-0000-0000-000000000001"
# the names that GitHub's own client refuses, before it asks
BAD_NAME = re.compile(r'["\\/:<>|*?\r\n]')


@dataclass
class Upload:
    """An artifact on its way: blocks as they come, data when it is whole."""

    run_id: int
    name: str
    blocks: dict[str, bytes] = field(default_factory=dict)
    data: bytes | None = None


@dataclass
class Results:
    """The service's memory: uploads by (run, name) and by the ticket in the address of the blob."""

    state: State
    runs: dict[str, int] = field(default_factory=dict)
    uploads: dict[tuple[int, str], Upload] = field(default_factory=dict)
    tickets: dict[str, Upload | Artifact] = field(default_factory=dict)

    def token(self, run_id: int) -> str:
        """Make the token of a job; whoever holds it may write the artifacts of its run."""
        claims = {"scp": f"Actions.Results:{run_id}:{JOB}", "jti": secrets.token_hex(8)}
        parts = ({"alg": "none"}, claims, secrets.token_hex(8))
        made = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        self.runs[made] = run_id
        return made

    def answer(self, seen: Seen, storage: str) -> Answer:
        """Answer a call of the service."""
        token = seen.headers.get("authorization", "").removeprefix("Bearer ")
        asked = seen.body if isinstance(seen.body, dict) else {}
        run_id, method = self.runs.get(token), seen.path.removeprefix(SERVICE)
        named = str(asked.get("workflow_run_backend_id", asked.get("workflowRunBackendId")))
        if run_id is None or named != str(run_id):
            return trouble(401, "unauthenticated", "the token is of no job of this run")
        handlers = {
            "CreateArtifact": self.create,
            "FinalizeArtifact": self.finish,
            "DeleteArtifact": self.delete,
            "ListArtifacts": self.listed,
            "GetSignedArtifactURL": self.signed,
        }
        if method not in handlers or seen.method != "POST":
            return trouble(404, "bad_route", f"no such method: {method}")
        return handlers[method](run_id, asked, storage)

    def create(self, run_id: int, asked: dict[str, Any], storage: str) -> Answer:
        name = str(asked.get("name", ""))
        if not name or BAD_NAME.search(name):
            return trouble(400, "invalid_argument", f"the artifact name {name!r} is not valid")
        if self.find(run_id, name) or (run_id, name) in self.uploads:
            said = "an artifact with this name already exists on the workflow run"
            return trouble(409, "already_exists", said)
        made = self.uploads[run_id, name] = Upload(run_id, name)
        return Answer(200, {"ok": True, "signed_upload_url": self.ticket(made, storage)})

    def finish(self, run_id: int, asked: dict[str, Any], storage: str) -> Answer:
        upload = self.uploads.pop((run_id, str(asked.get("name"))), None)
        if upload is None or upload.data is None:
            return trouble(404, "not_found", "nothing was uploaded")
        if str(asked.get("size")) != str(len(upload.data)):
            return trouble(400, "invalid_argument", f"the size is {len(upload.data)}, not {asked.get('size')}")
        made = Artifact(self.state.new_id(), run_id, upload.name, upload.data, self.state.moment())
        self.state.artifacts.append(made)
        return Answer(200, {"ok": True, "artifact_id": str(made.id)})

    def delete(self, run_id: int, asked: dict[str, Any], storage: str) -> Answer:
        found = self.find(run_id, str(asked.get("name")))
        if found is None:
            return trouble(404, "not_found", "no such artifact")
        self.state.artifacts.remove(found)
        return Answer(200, {"ok": True, "artifact_id": str(found.id)})

    def listed(self, run_id: int, asked: dict[str, Any], storage: str) -> Answer:
        wanted = asked.get("name_filter", asked.get("nameFilter"))
        mine = [one for one in self.state.artifacts if one.run_id == run_id and wanted in (None, one.name)]
        ids = {"workflow_run_backend_id": str(run_id), "workflow_job_run_backend_id": JOB}
        shown = [
            {"database_id": str(a.id), "name": a.name, "size": str(len(a.data)), "created_at": a.created} for a in mine
        ]
        return Answer(200, {"artifacts": [{**ids, **each} for each in shown]})

    def signed(self, run_id: int, asked: dict[str, Any], storage: str) -> Answer:
        found = self.find(run_id, str(asked.get("name")))
        if found is None:
            return trouble(404, "not_found", "no such artifact")
        return Answer(200, {"signed_url": self.ticket(found, storage)})

    def find(self, run_id: int, name: str) -> Artifact | None:
        """Find a finished artifact."""
        return next((one for one in self.state.artifacts if (one.run_id, one.name) == (run_id, name)), None)

    def ticket(self, what: Upload | Artifact, storage: str) -> str:
        """Make an address that is as good as a token."""
        made = secrets.token_hex(8)
        self.tickets[made] = what
        return f"{storage}/blob/artifact.zip?sig={made}"

    def blob(self, seen: Seen, body: bytes) -> Answer:
        """Take a blob, whole or in blocks, or give one."""
        what = self.tickets.get(seen.query.get("sig", ""))
        if isinstance(what, Artifact) and seen.method in ("GET", "HEAD"):
            return Answer(200, what.data, {"Content-Type": "application/zip"})
        if not isinstance(what, Upload) or seen.method != "PUT":
            return Answer(403, b"<?xml version='1.0'?><Error><Code>AuthenticationFailed</Code></Error>")
        kind = seen.query.get("comp")
        if kind == "block":
            what.blocks[seen.query["blockid"]] = body
        elif kind == "blocklist":
            order = re.findall(r"<(?:Latest|Uncommitted|Committed)>([^<]+)<", body.decode())
            what.data = b"".join(what.blocks[block] for block in order)
        else:
            what.data = body
        return Answer(201, b"", {"ETag": '"1"', "Last-Modified": "Fri, 20 Nov 2026 09:00:00 GMT"})


def trouble(status: int, code: str, message: str) -> Answer:
    """Refuse as the service does."""
    return Answer(status, {"code": code, "msg": message})
