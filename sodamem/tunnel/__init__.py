"""Tunnels: first-stage retrievers, each over one signal, all answering with the same table of hits."""
