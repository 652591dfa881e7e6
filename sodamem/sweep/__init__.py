"""Optuna studies over the composed configuration: what is searched, what a point scores, what is left behind."""
