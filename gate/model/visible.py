"""Text from elsewhere made safe for one line."""

from gate.writing.plain import visible as visible
