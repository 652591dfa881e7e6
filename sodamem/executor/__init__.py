"""Executors: how the histories of a run are spread over threads, processes or machines."""
