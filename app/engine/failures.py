"""What an exception of the model's step means for the others.

Three answers: the sequence at fault failed; the device had no memory left for it; or the device
itself is lost ("sticky": every later call fails too) and the process must be started again. This
module refuses to decide what is done about it.
"""

from __future__ import annotations

import torch

from app.errors import EngineFailed, FirstwordError, OutOfMemory

#: Beginnings of the messages by which a CUDA context says that it is gone for good.
_STICKY = ("CUDA error", "CUDA driver error", "device-side assert")
_NO_MEMORY = ("can't allocate memory", "out of memory", "not enough memory")


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out; the CPU's allocator says so in a plain RuntimeError."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)


def is_sticky(error: Exception) -> bool:
    """Whether the device is lost to this process."""
    return not is_out_of_memory(error) and any(words in str(error) for words in _STICKY)


def as_failure(error: Exception) -> FirstwordError:
    """What the sequence at fault is told."""
    if isinstance(error, FirstwordError):
        return error
    if is_out_of_memory(error):
        return OutOfMemory("The device had no memory left for this reply.")
    if is_sticky(error):
        return EngineFailed("The device was lost; the engine must be restarted.")
    return EngineFailed(f"The model failed at this reply ({type(error).__name__}).")
