"""Counts the words of a text: {"text": "..."} or {"file": "/path"}; {"top": 10} is how many to list."""

import collections
import json
import os
import re
import sys

params = json.load(sys.stdin)
longshore = os.fdopen(3, "w", buffering=1)


def say(word):
    longshore.write(json.dumps(word) + "\n")


if "file" in params:
    with open(params["file"], encoding="utf-8") as file:
        text = file.read()
else:
    text = params.get("text", "the quick brown fox jumps over the lazy dog and the cat")

if not text.strip():
    say({"error": {"code": "PAYLOAD_INVALID", "message": "there is no text to count"}})
    sys.exit(1)

counts = collections.Counter()
lines = text.splitlines()
for number, line in enumerate(lines, start=1):
    counts.update(re.findall(r"\w+", line.lower()))
    if number % 1000 == 0:
        say({"progress": number / len(lines), "message": f"line {number} of {len(lines)}"})

print(f"counted {sum(counts.values())} words in attempt {os.environ['LONGSHORE_ATTEMPT']}")
say({"result": {"words": sum(counts.values()), "top": counts.most_common(params.get("top", 3))}})
