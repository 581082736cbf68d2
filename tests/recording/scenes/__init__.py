"""Scenes by what they are about; each module lists its own in `SCENES`."""
