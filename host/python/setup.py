"""Builds the package. A wheel without the component would be of no use, so it is an error that says what to do."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

COMPONENT = Path(__file__).parent / "src" / "halfopen" / "halfopen.wasm"


class BuildWithComponent(build_py):
    """Checks that the component is there."""

    def run(self) -> None:
        """Builds."""
        if not COMPONENT.is_file():
            raise SetupError(f"there is no component at {COMPONENT}: write it with `python scripts/component.py`")
        super().run()


setup(cmdclass={"build_py": BuildWithComponent})
