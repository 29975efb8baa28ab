"""What kind of project a directory holds, and what of it `perfgate init` can build and measure."""
