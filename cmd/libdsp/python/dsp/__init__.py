"""dsp: exact and fast oracles for structured prediction: chains, segments, trees, grammars, alignments, matchings, graphs and CTC.

Distributions over structures for NumPy arrays are in this module, those for PyTorch in dsp.torch. dsp.Form and dsp.Batch ask the C library
directly about packed arrays.
"""

from .batch import Batch, Error, Form, get_threads, offsets, set_threads
from .distributions import (CTC, Constituents, DependencyTree, Distribution, Graph, LinearChain, Matching, Monotone, PCFG, SecondOrderChain,
                            SemiMarkov, segments, tags)
from .model import Model, load

__version__ = "0.9.0"

__all__ = ["Batch", "Error", "Form", "get_threads", "offsets", "set_threads", "CTC", "Constituents", "DependencyTree", "Distribution", "Graph",
           "LinearChain", "Matching", "Model", "Monotone", "PCFG", "SecondOrderChain", "SemiMarkov", "load", "segments", "tags"]
