"""How a job runs: in a process. SIGTERM asks it to stop, SIGKILL stops it."""

import json
import multiprocessing
import os
import signal
import threading
import traceback

JOBS = {}
PROCESSES = multiprocessing.get_context("forkserver")


def job(key):
    """Makes a function a job: it is called with the params and a Context."""
    return lambda function: JOBS.setdefault(key, function)


class Context:
    def __init__(self, sent, pipe):
        self.id, self.attempt, self.pipe = sent["id"], sent["attempt"], pipe
        self.cancelled = threading.Event()

    def log(self, message, level="info"):
        self.pipe.send(("logs", {"lines": [{"level": level, "message": str(message), "ageMs": 0}]}))

    def stream(self, text):
        self.pipe.send(("streams", {"text": text}))

    def progress(self, fraction, message=None):
        self.pipe.send(("progress", {"fraction": fraction, "message": message}))


def failure(message, code="HANDLER_ERROR", stack=None):
    return {"kind": "failure", "error": {"code": code, "message": message, "stack": stack}}


def child(sent, pipe):
    context = Context(sent, pipe)
    signal.signal(signal.SIGTERM, lambda *_: context.cancelled.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pipe closes when the worker ends, however that happens: the job ends with it.
    threading.Thread(target=lambda: pipe.poll(None) and os._exit(1), daemon=True).start()
    try:
        result = JOBS[sent["key"]](json.loads(sent["paramsJson"]), context)
        outcome = {"kind": "success", "resultJson": json.dumps(result, allow_nan=False)}
    except Exception as error:
        outcome = failure(str(error), stack=traceback.format_exc())
    pipe.send(("outcome", outcome))


class Attempt:
    def __init__(self, sent):
        self.sent, self.process, self.why, self.lock = sent, None, None, threading.Lock()

    def run(self, say):
        """Runs the job to its end and returns the outcome. A job that was stopped before does not start."""
        pipe, theirs = PROCESSES.Pipe()
        with self.lock:
            if self.why:
                return {"kind": "unstarted"}
            self.process = PROCESSES.Process(target=child, args=(self.sent, theirs))
            self.process.start()
        theirs.close()
        timer = threading.Timer(self.sent["timeoutMs"] / 1000, self.kill, ["timeout"])
        timer.daemon = True
        timer.start()
        try:
            while True:
                kind, said = pipe.recv()
                if kind == "outcome":
                    return said
                say(kind, said)
        except (EOFError, OSError):
            return self.ended()
        finally:
            timer.cancel()
            pipe.close()
            self.process.join(5)
            self.process.kill()

    def ended(self):
        """The outcome of a process that ended without one."""
        self.process.join()
        if self.why == "interrupted":
            return {"kind": "interrupted", "message": "the worker stops"}
        if self.why == "timeout":
            return failure("the job ran longer than it may", "TIMEOUT")
        return failure(f"its process ended with {self.process.exitcode}", "CRASHED")

    def cancel(self, grace_s):
        with self.lock:
            if self.why:
                return
            self.why = "cancelled"
            if self.process:
                self.process.terminate()
        timer = threading.Timer(grace_s, self.kill, ["cancelled"])
        timer.daemon = True
        timer.start()

    def kill(self, why):
        with self.lock:
            self.why = "lost" if self.why == "lost" else why
            if self.process:
                self.process.kill()
