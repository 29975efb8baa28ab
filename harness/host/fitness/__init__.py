"""Checks of whether the machine is fit to measure on; they read and never change anything."""
