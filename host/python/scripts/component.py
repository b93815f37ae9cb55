"""Writes the component into the package: the bytes that the wasmtime host of this repository embeds."""

import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
TARGET = FOLDER / "src" / "halfopen" / "halfopen.wasm"
MANIFEST = FOLDER.parent.parent / "Cargo.toml"

command = ["cargo", "run", "--locked", "--manifest-path", str(MANIFEST), "--"]
raise SystemExit(subprocess.call([*command, "component", "write", "--force", str(TARGET)]))
