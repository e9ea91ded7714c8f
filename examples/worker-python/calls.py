"""The HTTP calls of a worker."""

import http.client
import json
import random
import time
import urllib.error
import urllib.request


class Gone(Exception):
    """The lease is over: the server gives the jobs to others."""


class Refused(Exception):
    """A mistake of the worker: to repeat the call changes nothing."""


class Calls:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def __call__(self, method, id, path="", body=None, timeout_s=10):
        """Raises an OSError when the call may be repeated."""
        headers = {"authorization": f"Bearer {self.key}"}
        if body is not None:
            headers["content-type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        url = f"{self.url}/v1/workers/{id}{path}"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code == 410:
                raise Gone from error
            if error.code >= 500 or error.code in (408, 429):
                raise
            raise Refused(error.read().decode()) from error
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"no answer: {error!r}") from error


def back_off(failures, error):
    """Waits a random time, which grows with the number of failures."""
    print(f"failed, trying again: {error}", flush=True)
    time.sleep(random.uniform(0.5, 1) * min(10, 0.2 * 2**failures))
    return min(failures + 1, 9)
