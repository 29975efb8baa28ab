"""The public trial: the rules of ten tools beside perfgate, on the same values of the runner it is run on."""
