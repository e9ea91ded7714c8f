"""The jobs that `longshore conformance worker` wants, and the program that runs them."""

import os

from attempt import job
from worker import Worker


@job("conformance.echo")
def echo(params, context):
    return params


@job("conformance.fail")
def fail(params, context):
    raise ValueError("it fails")


@job("conformance.wait")
def wait(params, context):
    context.cancelled.wait()
    raise InterruptedError("stopped by a cancel")


if __name__ == "__main__":
    Worker(os.environ["LONGSHORE_URL"], os.environ["LONGSHORE_API_KEY"]).run()
