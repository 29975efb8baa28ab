"""The asking step of the action: answers a request first with the address of the run that carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gate.codes import Exit
from gate.document.markdown import brief, link
from gate.github.event import Event
from gate.github.notice import Notice
from gate.github.problems import Problem
from gate.github.publishing.asked import Asked, NothingAskedError, RefusedError, read_request
from gate.github.publishing.forge import forge_of, problem_line
from gate.github.publishing.publish import answer_marker, answering, asked_line, run_address
from gate.github.publishing.request import Request
from gate.model import UserError

if TYPE_CHECKING:
    from gate.github.client import Forge


@dataclass(frozen=True, slots=True)
class Asking:
    """What is left to do in this job, which is nothing, and the output `request`: "" where nothing is to be run."""

    request: Request
    asked: str = ""


def asking(request: Request, environment: Mapping[str, str]) -> Asking:
    """Read the request of the event, and answer it; what is refused is no error of the workflow."""
    event = request.event
    try:
        forge = forge_of(event, environment)
        try:
            asked = read_request(event, environment, forge)
            return _queued(request, asked, forge)
        except NothingAskedError as error:
            return Asking(_idle(request, str(error)))
        except RefusedError as error:
            if error.answered:
                _tell(event, str(error), forge)
            return Asking(_idle(request, f"refused: {error}"))
    except UserError as error:
        return Asking(_with(request, Notice(Exit.USAGE, str(error))))
    except Problem as problem:
        return Asking(_with(request, Notice(Exit.ERROR, problem_line("nothing is measured", problem))))


def _queued(request: Request, asked: Asked, forge: Forge) -> Asking:
    from gate.github.comment import Marker, publish_comment
    from gate.github.conversation import Conversation

    event = request.event
    talk = Conversation(forge.transport, forge.repository, asked.pull.number)
    marker = answer_marker(asked, event)
    for comment in talk.comments():
        found = Marker.parse(comment.body)
        if found and found.id == marker.id and found.stamp.run != event.run_id and talk.is_mine(comment):
            raise RefusedError(f"the same was asked before, and {comment.url} is its answer", answered=False)
    text = f"### perfgate: queued\n\n{asked_line(asked)}\n\n{link('workflow run', run_address(event))}\n"
    publish_comment(forge, asked.pull.number, marker, text, result=False)
    return Asking(
        _idle(request, f"queued: {asked.words.said} of {asked.pull.head_sha[:10]}"), msgspec.json.encode(asked).decode()
    )


def _tell(event: Event, why: str, forge: Forge) -> None:
    """Answer who may ask that the request is refused."""
    from gate.github.comment import Marker, publish_comment

    number = event.number or (event.pull.number if event.pull is not None else 0)
    marker = Marker(f"ask-{event.run_id}", "unknown", answering(event))
    publish_comment(forge, number, marker, f"perfgate: refused: {brief(why, 500)}\n")


def _idle(request: Request, why: str) -> Request:
    return msgspec.structs.replace(request, idle=why)


def _with(request: Request, notice: Notice) -> Request:
    return msgspec.structs.replace(request, notices=[*request.notices, notice])
