import os
from typing import Any, Dict, Iterable, Optional, Sequence, Tuple, Union

from numpy.typing import ArrayLike

from .batch import Error as Error

Sequences = Union[Sequence[Sequence[str]], Sequence[Sequence[int]], ArrayLike]
Trees = Union[Sequences, Tuple[Sequences, Sequences]]

def labels(gold: Sequences, predicted: Sequences, names: Optional[Sequence[str]] = ..., lengths: Optional[ArrayLike] = ...,
           scheme: Optional[str] = ..., strict: bool = ...) -> Dict[str, Any]: ...
def trees(gold: Trees, predicted: Trees, tags: Optional[Sequences] = ..., names: Optional[Sequence[str]] = ...,
          lengths: Optional[ArrayLike] = ...) -> Dict[str, Any]: ...
def brackets(gold: Iterable[Any], predicted: Iterable[Any]) -> Dict[str, Any]: ...
def treebanks(gold: str, predicted: str) -> Dict[str, Any]: ...
def files(gold: Union[str, "os.PathLike[str]"], predicted: Union[str, "os.PathLike[str]"], **settings: Any) -> Dict[str, Any]: ...
