"""Benchmarks: ratios measured in one run, never a timed test."""
