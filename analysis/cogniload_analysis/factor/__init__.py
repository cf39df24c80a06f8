"""FACTOR's analysis: decay, repeated sampling, tables, figures and report."""
