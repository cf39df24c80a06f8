"""CogniLoad's analysis: the GLM, its thresholds, tables, figures, sentences and report."""
