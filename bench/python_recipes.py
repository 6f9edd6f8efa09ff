"""Runs the recipes of docs/python.md and docs/layers.md, in order, in one folder each, with the installed package and its program.

    pip install build/dsp_structured-*.whl onnxruntime torch
    python bench/python_recipes.py

Without torch it leaves out docs/layers.md.
"""

import importlib.util

import onnx_docs
from dsp import program

if __name__ == "__main__":
    onnx_docs.main(program.path(), "python.md")
    if importlib.util.find_spec("torch"):
        onnx_docs.main(program.path(), "layers.md")
