"""A run in the making: project, folder, measuring, progress; the only room that calls harness."""
