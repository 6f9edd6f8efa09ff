"""Runs the recipes of docs/python.md, in order, in one folder, with the real program.

    pip install onnxruntime numpy
    python bench/python_recipes.py bin/dsp
"""

import sys

import onnx_docs

if __name__ == "__main__":
    onnx_docs.main(sys.argv[1], "python.md")
