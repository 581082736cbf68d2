"""Runs the harness's command line for the tests: imports everything once, then forks a process per command."""

import json
import os
import sys
import tempfile


def serve():
    import jinja2  # noqa: F401
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401
    import torch

    import models  # noqa: F401
    from harness import bench, cli, compare, coverage, frames, report, revisions, runner  # noqa: F401
    torch.set_num_threads(1)
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            answer = {"status": os.waitstatus_to_exitcode(status)}
        else:
            pid = os.fork()
            if pid == 0:
                run(order, cli)
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)


def run(order, cli):
    status = 70
    try:
        os.setsid()
        for fd, name in ((1, order["stdout"]), (2, order["stderr"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(order["env"])
        tempfile.tempdir = None
        if order["file_limit"]:
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_limit"], resource.RLIM_INFINITY))
        os.chdir(order["cwd"])
        sys.path.insert(0, order["cwd"])
        status = cli.main(order["argv"])
        sys.stdout.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve()
