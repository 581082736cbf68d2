"""The zoo: how to build each model, at which scale, for which workload.

    for model in select(["Llama*"]):
        module = model.build(dtype=torch.float32, device="cpu", seed=0)
        job = WORKLOADS["forward"].prepare(model, module, seed=1)
        wanted = job.run(module)                    # eager: a dict of named tensors
        job.reset()
        got = job.run(jitted)                       # the same with what stands in for the module

`zoo()` lists every model; together the architectures stand for all configuration names of LitGPT, apart from
`missing()`, which a newer LitGPT may have. Nothing here knows of an interpreter or of a bench.
"""

from models.architectures import config_names, missing
from models.model import Model, UnknownModel
from models.scale import SCALES
from models.workloads import DEFAULT_WORKLOADS, WORKLOADS, Job, UnknownWorkload, Workload, expand_workloads
from models.zoo import counted, select, zoo

__all__ = [
    "DEFAULT_WORKLOADS",
    "SCALES",
    "WORKLOADS",
    "Job",
    "Model",
    "UnknownModel",
    "UnknownWorkload",
    "Workload",
    "config_names",
    "counted",
    "expand_workloads",
    "missing",
    "select",
    "zoo",
]
