"""Fusion: the awards of all tunnels become one ranking; pure array work, the same live and in replay."""
