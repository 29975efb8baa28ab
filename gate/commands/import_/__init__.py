"""perfgate import: result files of other tools -> measurements."""
