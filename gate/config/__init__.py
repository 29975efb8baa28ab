"""perfgate.toml text -> typed Config; unknown keys are errors; the JSON Schema of the file."""
