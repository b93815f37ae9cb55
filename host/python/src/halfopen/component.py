"""The component: its bytes, and the code that is compiled from them, once a process."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from wasmtime import Config, Engine, WasmtimeError
from wasmtime.component import Component

from . import code_cache
from .errors import ComponentError


@cache
def component_bytes() -> bytes:
    """The component that this package carries."""
    try:
        return resources.files("halfopen").joinpath("halfopen.wasm").read_bytes()
    except OSError as error:
        raise ComponentError(
            f"the component cannot be read ({error}); install the package anew, or write it with scripts/component.py"
        ) from error


def component_sha256() -> str:
    """The SHA-256 of the component, in hexadecimal."""
    return hashlib.sha256(component_bytes()).hexdigest()


class Code:
    """An engine, and the component compiled for it."""

    def __init__(self) -> None:
        config = Config()
        # What bounds a call, at the same point on every machine, and without a thread that would be lost in a fork.
        config.consume_fuel = True
        # Threads that compile would be lost in a fork, and waited for.
        config.parallel_compilation = False
        # An instance needs little more than a MiB; without this, 4 GiB of address space would be set aside for each.
        config.memory_reservation = 2 << 20
        config.memory_reservation_for_growth = 1 << 20
        config.memory_guard_size = 64 << 10
        config.macos_use_mach_ports = False
        self.engine = Engine(config)
        name = code_cache.name(component_sha256())
        kept = code_cache.read(name)
        if kept is not None:
            try:
                self.component = Component.deserialize(self.engine, kept)
                return
            except WasmtimeError:
                # Of another release or processor: compiled anew.
                pass
        try:
            self.component = Component(self.engine, component_bytes())
        except WasmtimeError as error:
            raise ComponentError(f"the component does not compile here: {error}") from error
        code_cache.write(name, bytes(self.component.serialize()))


@cache
def code() -> Code:
    """The code of this process, and of those that are forked off. Under the lock that calls are made under."""
    return Code()
