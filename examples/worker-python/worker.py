"""A worker for Longshore, with the standard library only: the rules of docs/operate/remote-workers.md."""
import itertools, os, signal, socket, threading, time, uuid
from contextlib import suppress
from attempt import JOBS, Attempt, failure
from calls import Calls, Gone, Refused, back_off


class Worker:
    def __init__(self, url, key, slots=2, drain_s=30, cancel_grace_s=5):
        self.call, self.slots, self.drain_s, self.grace_s = Calls(url, key), slots, drain_s, cancel_grace_s
        self.id, self.draining, self.taking, self.beat_now = None, False, False, threading.Event()
        self.held, self.changed = {}, threading.Condition()  # {(id, claim): Attempt}, until it is settled

    def run(self):
        for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, self.drain)
        failures, lost = 0, False  # lost: a turn had no answer, but it may have taken jobs
        while not self.draining or (lost and self.id):
            id = self.id
            try:
                if not id: id, lost = self.register(), False
                self.turn(id, lost)
                failures, lost = 0, False
            except Gone: self.lose(id)
            except OSError as error: failures, lost = back_off(failures, error), True
        with self.changed:
            if not self.changed.wait_for(lambda: not self.held, self.drain_s):
                for attempt in self.held.values(): attempt.kill("interrupted")
                self.changed.wait_for(lambda: not self.held, 10)
        with suppress(Gone, OSError):
            self.id and self.call("DELETE", self.id)

    def drain(self, *_):
        self.draining = True
        if self.taking: raise OSError("the worker stops")  # in the main thread: it ends the open turn

    def register(self):
        id, sent_at = str(uuid.uuid4()), time.monotonic()
        facts = {"host": socket.gethostname(), "pid": os.getpid(), "slots": self.slots}
        answer = self.call("PUT", id, "", facts | {"definitions": [{"key": key} for key in JOBS]})
        self.lease_s, self.beat_s, self.wait_s = (answer[name] / 1000 for name in ("leaseMs", "beatMs", "waitMs"))
        self.renewed_at, self.id = sent_at, id
        for loop in (self.beats, self.watch): threading.Thread(target=loop, args=(id,), daemon=True).start()
        return id

    def turn(self, id, lost):
        with self.changed:
            self.changed.wait_for(lambda: len(self.held) < self.slots)
            body = {"room": self.slots - len(self.held), "waitMs": 0 if lost else int(self.wait_s * 1000)}
            body |= {"holding": [about(claim) for claim in self.held]} if lost else {}
        try:
            self.taking = not self.draining
            if self.draining and not lost: return
            answer = self.call("POST", id, "/turn", body, body["waitMs"] / 1000 + 10)
        finally:
            self.taking = False
        if answer["beat"]: self.beat_now.set()
        with self.changed:
            for sent in answer["jobs"]:
                claim = (sent["id"], sent["claim"])
                if self.id == id and claim not in self.held:
                    self.held[claim] = Attempt(sent)
                    threading.Thread(target=self.attempt, args=(id, claim, self.held[claim]), daemon=True).start()

    def attempt(self, id, claim, attempt):
        counts = {"logs": itertools.count(), "streams": itertools.count()}

        def say(kind, said):
            number = {"n": next(counts[kind])} if kind in counts else {}
            with suppress(Gone, Refused, OSError):
                self.call("POST", id, "/say", {kind: [about(claim) | said | number]})

        outcome, failures = {"kind": "unstarted"} if self.draining else attempt.run(say), 0
        while attempt.why != "lost":
            try:
                if self.call("POST", id, "/turn", {"outcomes": [about(claim) | {"outcome": outcome}]})["settled"]:
                    break
                raise OSError("the outcome is not settled")
            except Gone: self.lose(id)
            except (Refused, OSError) as error:
                outcome = failure(str(error)) if isinstance(error, Refused) else outcome
                failures = back_off(failures, error)
        with self.changed:
            self.held.pop(claim, None)
            self.changed.notify_all()

    def beats(self, id):
        while self.id == id:
            self.beat_now.wait(self.beat_s)
            self.beat_now.clear()
            held, sent_at = dict(self.held), time.monotonic()
            try:
                answer = self.call("POST", id, "/beat", {"holding": [about(claim) for claim in held]}, self.lease_s / 4)
            except Gone: return self.lose(id)
            except OSError: continue
            self.renewed_at = sent_at
            for (job, _), attempt in held.items():
                if job in answer["gone"]: attempt.kill("lost")
                elif job in answer["cancel"]: attempt.cancel(self.grace_s)
            if answer["drain"] and not self.draining:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)

    def watch(self, id):
        while self.id == id and (left_s := self.renewed_at + self.lease_s * 5 / 6 - time.monotonic()) > 0:
            time.sleep(left_s)
        self.lose(id)

    def lose(self, id):
        with self.changed:
            if self.id != id: return
            self.id = None
            for attempt in self.held.values(): attempt.kill("lost")
            self.held.clear()
            self.changed.notify_all()


def about(claim):
    return {"id": claim[0], "claim": claim[1]}
