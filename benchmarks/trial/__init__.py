"""The public trial: the rules of others beside perfgate, on the same values of the host it is run on."""
