"""What goes back: an answer, and GitHub's words for what it refuses."""

import http
import json
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

PAGE, LARGEST_PAGE = 30, 100
DOCUMENTATION = "https://docs.github.com/rest"
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)
PRIMARY = "API rate limit exceeded for installation. If you reach out to GitHub Support for help, please include the request ID."
MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by integration",
    404: "Not Found",
    410: "Artifact has expired",
    422: "Validation Failed",
    429: SECONDARY,
    500: "Server Error",
    502: "Server Error",
    503: "Service unavailable",
}


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; pages: its body is a list (or holds one under this key) of which one page is sent."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    pages: str | None = None

    def encoded(self) -> bytes:
        """Give the bytes of the body."""
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Refused(Exception):  # noqa: N818  (it is an answer, not a mistake)
    """GitHub refuses a request."""

    def __init__(self, status: int, message: str | None = None, **more: Any) -> None:
        said = message or MESSAGES.get(status) or http.HTTPStatus(status).phrase
        self.answer = Answer(
            status, {"message": said, **more, "documentation_url": DOCUMENTATION, "status": str(status)}
        )
        super().__init__(f"{status} {said}")


def invalid(resource: str, name: str, message: str, code: str = "custom") -> Refused:
    """Refuse a value in GitHub's wording."""
    return Refused(422, errors=[{"resource": resource, "code": code, "field": name, "message": message}])


def failure(what: int | str) -> Answer:
    """Make the answer of a planned failure: a status, "secondary" or "primary" for the rate limits."""
    if what == "secondary":
        return Refused(403, SECONDARY).answer
    if what == "primary":
        refused = Refused(403, PRIMARY).answer
        return Answer(403, refused.body, {"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "0"})
    if what == "garbage":
        return Answer(200, b"<html><body>a proxy was here</body></html>")
    if not isinstance(what, int):
        raise ValueError(f"no such failure: {what!r}")
    return Refused(what).answer


def paged(answer: Answer, query: dict[str, str], url: str) -> Answer:
    """Cut the page that was asked for out of an answer, and link to the others."""
    if answer.pages is None:
        return answer
    everything = answer.body[answer.pages] if answer.pages else answer.body
    size = min(max(int(query.get("per_page", PAGE)), 1), LARGEST_PAGE)
    page = max(int(query.get("page", 1)), 1)
    last = max(-(-len(everything) // size), 1)
    part = everything[(page - 1) * size : page * size]
    places = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page == 1:
        places = {name: places[name] for name in ("next", "last")}
    if page >= last:
        places = {name: number for name, number in places.items() if name in ("prev", "first")}
    links = [
        f'<{url}?{urllib.parse.urlencode({**query, "page": number})}>; rel="{name}"' for name, number in places.items()
    ]
    body = {**answer.body, answer.pages: part} if answer.pages else part
    headers = {**answer.headers, "Link": ", ".join(links)} if links else answer.headers
    return Answer(answer.status, body, headers)
