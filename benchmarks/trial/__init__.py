"""The public trial: ten other rules beside perfgate, on the same values of the runner it is run on."""
