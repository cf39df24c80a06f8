"""The fits of CogniLoad: the paper's GLMs, their thresholds, and the step hazard."""
