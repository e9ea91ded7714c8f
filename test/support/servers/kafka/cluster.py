"""Runs the cluster of librdkafka, which speaks the protocol of Kafka. Prints its address.

A line "topic NAME PARTITIONS" on stdin creates a topic; the end of stdin ends the process.
"""

import ctypes
import sys

RD_KAFKA_PRODUCER = 0

kafka = ctypes.CDLL("librdkafka.so.1")
for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
    getattr(kafka, name).restype = ctypes.c_void_p
bootstraps = kafka.rd_kafka_mock_cluster_bootstraps
bootstraps.restype = ctypes.c_char_p

configuration = ctypes.c_void_p(kafka.rd_kafka_conf_new())
client = ctypes.c_void_p(kafka.rd_kafka_new(RD_KAFKA_PRODUCER, configuration, None, 0))
cluster = ctypes.c_void_p(kafka.rd_kafka_mock_cluster_new(client, 1))
print(bootstraps(cluster).decode(), flush=True)

for line in sys.stdin:
    _, topic, partitions = line.split()
    error = kafka.rd_kafka_mock_topic_create(cluster, topic.encode(), int(partitions), 1)
    print("made" if error == 0 else f"error {error}", flush=True)
