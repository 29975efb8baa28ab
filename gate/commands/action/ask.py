"""The asking step of the action: answers a request first with the address of the run that carries it out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gate.codes import Exit
from gate.document.markdown import brief, link
from gate.github.client import Forge, forge_of
from gate.github.comment import Marker, publish_comment
from gate.github.conversation import Conversation
from gate.github.problems import Problem
from gate.github.publishing.asked import Asked, NothingAskedError, RefusedError, read_request
from gate.github.publishing.publish import answer_marker, answering, asked_line, run_address
from gate.github.publishing.request import Request
from gate.model import UserError


def asking(request: Request, environment: Mapping[str, str]) -> tuple[Request, str]:
    """Read the request of the event, and answer it; what is refused is no error of the workflow.

    Returns:
        What is left to do in this job, which is nothing, and the output `request`: "" where nothing is to be run.
    """
    event = request.event
    try:
        forge = forge_of(event, environment)
        try:
            asked = read_request(event, environment, forge)
            _queue(request, asked, forge)
        except NothingAskedError as error:
            return msgspec.structs.replace(request, idle=str(error)), ""
        except RefusedError as error:
            if error.answered:
                # answer who may ask
                number = event.number or (event.pull.number if event.pull is not None else 0)
                marker = Marker(f"ask-{event.run_id}", "unknown", answering(event))
                publish_comment(forge, number, marker, f"perfgate: refused: {brief(str(error), 500)}\n")
            return msgspec.structs.replace(request, idle=f"refused: {error}"), ""
    except UserError as error:
        return request.refused(Exit.USAGE, str(error)), ""
    except Problem as problem:
        return request.refused(Exit.ERROR, problem.after("nothing is measured")), ""
    idle = f"queued: {asked.words.said} of {asked.pull.head_sha[:10]}"
    return msgspec.structs.replace(request, idle=idle), msgspec.json.encode(asked).decode()


def _queue(request: Request, asked: Asked, forge: Forge) -> None:
    event = request.event
    talk = Conversation(forge.transport, forge.repository, asked.pull.number)
    marker = answer_marker(asked, event)
    for comment in talk.comments():
        found = Marker.parse(comment.body)
        if found and found.id == marker.id and found.stamp.run != event.run_id and talk.is_mine(comment):
            raise RefusedError(f"the same was asked before, and {comment.url} is its answer", answered=False)
    text = f"### perfgate: queued\n\n{asked_line(asked)}\n\n{link('workflow run', run_address(event))}\n"
    publish_comment(forge, asked.pull.number, marker, text, result=False)
