"""What is wrong with a configuration: one line that says what, where and what to do."""

from gate.model import UserError


class ConfigError(UserError):
    """A config file or option that cannot be used."""

    def __init__(self, where: str, why: str) -> None:
        """Say where ("perfgate.toml:12: gate.threshold") and why."""
        super().__init__(f"{where}: {why}" if where else why)
