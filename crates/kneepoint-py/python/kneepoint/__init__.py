# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kneepoint: a congestion-control laboratory.

    import kneepoint as knee
    result = knee.compare("pert", "cubic/red-ecn", rate="50mbit", flows=20)
    result.to_polars()
"""

from . import _verbs
from ._native import Rows, __version__
from ._progress import Progress
from ._result import Result
from ._sweep import sweep
from ._verbs import *
from .algorithms import Parameter, controller, queue, source
from .errors import Fault, Interrupted, KneepointError, RunError, ScenarioError, UsageError
from .scenario import Scenario

__all__ = [
    "Fault",
    "Interrupted",
    "KneepointError",
    "Parameter",
    "Progress",
    "Result",
    "Rows",
    "RunError",
    "Scenario",
    "ScenarioError",
    "UsageError",
    "__version__",
    "controller",
    "queue",
    "source",
    "sweep",
]
__all__ += _verbs.__all__
