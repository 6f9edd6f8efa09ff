"""The program dsp, which the wheel brings: training and everything else that the command line does."""

import os
import pathlib
import shutil
import subprocess
import sysconfig

from .batch import Error

__all__ = ["run", "path"]


def path():
    """The program: DSP_PROGRAM, the one of this installation, or the first one on the path."""
    given = os.environ.get("DSP_PROGRAM")
    if given:
        return given
    name = "dsp.exe" if os.name == "nt" else "dsp"
    own = pathlib.Path(sysconfig.get_path("scripts")) / name
    found = str(own) if own.exists() else shutil.which(name)
    if not found:
        raise Error("the program dsp is not installed beside this package, nor on the path")
    return found


def run(*arguments, verbose=False):
    """Runs `dsp` with arguments and returns what it prints. Its messages go to standard error if verbose; a failure raises Error with its last ones."""
    done = subprocess.run([path(), *map(str, arguments)], stdout=subprocess.PIPE, stderr=None if verbose else subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        why = "" if verbose else ": " + done.stderr.strip()[-2000:]
        raise Error(f"dsp {arguments[0]} ended with exit code {done.returncode}{why}")
    return done.stdout
