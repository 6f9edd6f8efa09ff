"""Runs the commands and the Python of docs/guide/onnx.md, in order, in one folder.

    pip install onnxruntime numpy
    python bench/onnx_docs.py bin/dsp
"""

import os
import re
import subprocess
import sys
import tempfile


def main(dsp, name="onnx.md"):
    """Runs the blocks of a page that a Go test runs, too (sh), and those that need Python (python, and console with the reason "after Python")."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "guide", name)
    with open(page, encoding="utf-8") as f:
        blocks = re.findall(r"^```(python|sh|console after Python)\n(.*?)^```", f.read(), re.S | re.M)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(dsp), os.path.join(folder, "dsp"))
        env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
        for language, code in blocks:
            command = [sys.executable, "-c", code] if language == "python" else ["sh", "-ec", code]
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
            print(done.stdout, end="")
            if done.returncode != 0:
                sys.exit(f"{code}\n{done.stderr}")
    print(f"{name}: {len(blocks)} blocks run")


if __name__ == "__main__":
    main(sys.argv[1])
