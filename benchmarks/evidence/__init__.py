"""docs/evidence.md: what docs/method.md promises, with the variances of Kalibera and Jones, by simulation."""
