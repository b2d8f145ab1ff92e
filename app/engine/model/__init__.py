"""The model behind the loop: weights on a device, and one step at a time.

``load`` picks the hand-written forward pass for Llama-like models and transformers' own for the
others; both are Runners to the loop. Only this package and the sampler import torch.
"""

from app.engine.model.load import load

__all__ = ["load"]
