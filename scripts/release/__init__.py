"""What a release of perfgate consists of; docs/releasing.md has the steps, .github/workflows/release.yml runs them."""
