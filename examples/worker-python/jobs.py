"""The jobs of this example, and the program that runs them."""

import os

from attempt import job
from worker import Worker


@job("py.sum")
def add(params, context):
    context.log(f"adding {len(params['numbers'])} numbers")
    context.progress(1, "done")
    return {"sum": sum(params["numbers"])}


@job("py.poem")
def poem(params, context):
    for word in "The tide is in.".split(" "):
        context.stream(word + " ")


@job("py.fail")
def fail(params, context):
    raise ValueError(f"attempt {context.attempt} fails")


@job("py.wait")
def wait(params, context):
    context.log("waiting")
    if context.cancelled.wait(params["seconds"]):
        raise InterruptedError("stopped by a cancel")
    return "waited"


if __name__ == "__main__":
    Worker(os.environ["LONGSHORE_URL"], os.environ["LONGSHORE_API_KEY"]).run()
