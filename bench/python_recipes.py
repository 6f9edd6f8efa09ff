"""Runs the Python of the guide, in order, in one folder for each page, with the installed package and its program.

    pip install build/dsp_structured-*.whl onnxruntime torch
    python bench/python_recipes.py

Without onnxruntime or torch it leaves out the pages that need them.
"""

import importlib.util

import onnx_docs
from dsp import program

PAGES = {"python.md": "dsp", "python-processes.md": "dsp", "arrays.md": "numpy", "onnx.md": "onnxruntime", "layers.md": "torch"}  # and what they need

if __name__ == "__main__":
    for page, module in PAGES.items():
        if importlib.util.find_spec(module):
            onnx_docs.main(program.path(), page)
        else:
            print(f"{page}: left out, because there is no {module}")
