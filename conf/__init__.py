"""The configuration of sodamem, one folder per stage; `config.yaml` is the map of the system."""
