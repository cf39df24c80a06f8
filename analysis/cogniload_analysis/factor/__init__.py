"""FACTOR's analysis: decay, failure modes, repeated sampling, tables, figures and report."""
