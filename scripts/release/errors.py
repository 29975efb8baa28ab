"""The one error of a release."""


class ReleaseError(Exception):
    """What stops a release, and what to do about it; one line each."""
