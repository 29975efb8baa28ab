"""Where running jobs hand their artifacts in and take them: what the stand-ins of the artifact actions speak.

A job has a token for it, different from the API's. What was handed in stands in the REST API from then on, and in the
`artifacts` of the fake.
"""

import re
import secrets
from dataclasses import dataclass, field

from tests.support.forge.answers import Answer
from tests.support.forge.state import Artifact, Seen, State

SERVICE = "/artifacts"
# the names that GitHub's own client refuses, before it asks
BAD_NAME = re.compile(r'^$|["\\/:<>|*?\r\n]')


@dataclass
class Results:
    """The service's memory: the tokens of jobs, and the runs that they are of."""

    state: State
    runs: dict[str, int] = field(default_factory=dict)

    def token(self, run_id: int) -> str:
        """Make the token of a job; whoever holds it may write the artifacts of its run."""
        made = f"ey{secrets.token_hex(32)}"
        self.runs[made] = run_id
        return made

    def answer(self, seen: Seen, body: bytes) -> Answer:
        """Take an artifact (a name is made once, unless it says that it overwrites), give one, or the names of all."""
        run_id = self.runs.get(seen.headers.get("authorization", "").removeprefix("Bearer "))
        if run_id is None:
            return Answer(401, {"msg": "the token is of no job"})
        mine = {one.name: one for one in self.state.artifacts if one.run_id == run_id}
        name = seen.query.get("name", "")
        if seen.method == "GET":
            if not name:
                return Answer(200, {"names": list(mine)})
            found = mine.get(name)
            return Answer(200, found.data, {"Content-Type": "application/zip"}) if found else Answer(404, {})
        if BAD_NAME.search(name):
            return Answer(400, {"msg": f"the artifact name {name!r} is not valid"})
        if name in mine:
            if "overwrite" not in seen.query:
                return Answer(409, {"msg": "an artifact with this name already exists on the workflow run"})
            self.state.artifacts.remove(mine[name])
        made = Artifact(self.state.new_id(), run_id, name, body, self.state.moment())
        self.state.artifacts.append(made)
        return Answer(201, {"id": made.id})
