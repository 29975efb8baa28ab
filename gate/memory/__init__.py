"""What is kept between runs: the variance of benchmarks, by machine and project."""
