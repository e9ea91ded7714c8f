"""Finds values that are far from the others in a column of a CSV file, by the median of their distances."""

import csv
import json
import os
import statistics
import sys

params = json.load(sys.stdin)
longshore = os.fdopen(3, "w", buffering=1)


def say(word):
    longshore.write(json.dumps(word) + "\n")


def refuse(message):
    say({"error": {"code": "NON_RETRYABLE", "message": message}})
    sys.exit(1)


column = params["column"]
with open(params["csv"], encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
if not rows or column not in rows[0]:
    refuse(f"{params['csv']} has no column {column}")

say({"progress": 0.5, "message": f"{len(rows)} rows read"})
values = [float(row[column]) for row in rows]
middle = statistics.median(values)
spread = statistics.median(abs(value - middle) for value in values) or 1e-9
# 1.4826 makes the median of distances comparable to a standard deviation.
far = [
    {"row": number, "value": value, "score": round(abs(value - middle) / (1.4826 * spread), 1)}
    for number, value in enumerate(values, start=1)
    if abs(value - middle) > params.get("threshold", 3.5) * 1.4826 * spread
]
print(f"attempt {os.environ['LONGSHORE_ATTEMPT']} looked at {len(values)} values")
say({"result": {"median": middle, "outliers": far}})
