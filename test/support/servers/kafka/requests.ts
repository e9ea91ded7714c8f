import type { Fields, Values } from './wire.ts';

/**
 * The requests of a client for Kafka 3.5 or later, and the older versions of them that librdkafka's
 * cluster knows. Most differ only in their encoding; `ask` and `answer` convert the rest.
 */
export interface Translation {
  version: number;
  oldVersion: number;
  request: Fields;
  oldRequest?: Fields;
  response: Fields;
  oldResponse?: Fields;
  ask?(request: Values): Values;
  answer?(response: Values, request: Values): Values;
}

export const PRODUCE = 0;
export const METADATA = 3;
export const SYNC_GROUP = 14;
export const HANDSHAKE = 17;
export const API_VERSIONS = 18;
export const AUTHENTICATE = 36;

/** Not translated: the cluster knows these versions. */
export const SAME: Readonly<Record<number, number>> = { [PRODUCE]: 7 };

/** The answer to a user and a password. */
export const AUTHENTICATED: Fields = {
  errorCode: 'int16',
  errorMessage: 'string',
  authBytes: 'bytes',
  sessionLifetimeMs: 'int64',
};

const COORDINATOR: Fields = { nodeId: 'int32', host: 'string', port: 'int32' };
const FAILURE: Fields = { errorCode: 'int16', errorMessage: 'string' };
const MEMBER: Fields = { groupId: 'string', generationId: 'int32', memberId: 'string' };
const INSTANCE: Fields = { groupInstanceId: 'string' };
const RESULT: Fields = { throttleTimeMs: 'int32', errorCode: 'int16' };
const BROKERS: Fields = {
  brokers: { each: { ...COORDINATOR, rack: 'string' } },
  clusterId: 'string',
  controllerId: 'int32',
};
const COMMITTED_TOPICS: Fields = {
  topics: {
    each: {
      name: 'string',
      partitions: {
        each: {
          partitionIndex: 'int32',
          committedOffset: 'int64',
          committedLeaderEpoch: 'int32',
          metadata: 'string',
          errorCode: 'int16',
        },
      },
    },
  },
};
const ASKED_TOPICS: Fields = {
  topics: { each: { name: 'string', partitionIndexes: { each: 'int32' } } },
};

function partitionFields(isNew: boolean): Fields {
  return {
    errorCode: 'int16',
    partitionIndex: 'int32',
    leaderId: 'int32',
    ...(isNew ? { leaderEpoch: 'int32' } : {}),
    replicaNodes: { each: 'int32' },
    isrNodes: { each: 'int32' },
    ...(isNew ? { offlineReplicas: { each: 'int32' } } : {}),
  };
}

function topicFields(isNew: boolean): Fields {
  return {
    errorCode: 'int16',
    name: 'string',
    isInternal: 'boolean',
    partitions: { each: partitionFields(isNew) },
    ...(isNew ? { authorizedOperations: 'int32' } : {}),
  };
}

function askedOffsets(isNew: boolean): Fields {
  const partition: Fields = {
    partitionIndex: 'int32',
    ...(isNew ? { currentLeaderEpoch: 'int32' } : {}),
    timestamp: 'int64',
  };
  const topics = { each: { name: 'string', partitions: { each: partition } } } as const;
  return { replicaId: 'int32', isolationLevel: 'int8', topics };
}

function listedOffsets(isNew: boolean): Fields {
  const partition: Fields = {
    partitionIndex: 'int32',
    errorCode: 'int16',
    timestamp: 'int64',
    offset: 'int64',
    ...(isNew ? { leaderEpoch: 'int32' } : {}),
  };
  const topics = { each: { name: 'string', partitions: { each: partition } } } as const;
  return { throttleTimeMs: 'int32', topics };
}

function fetchFields(isNew: boolean): Fields {
  return {
    replicaId: 'int32',
    maxWaitMs: 'int32',
    minBytes: 'int32',
    maxBytes: 'int32',
    isolationLevel: 'int8',
    sessionId: 'int32',
    sessionEpoch: 'int32',
    topics: {
      each: {
        topic: 'string',
        partitions: {
          each: {
            partition: 'int32',
            currentLeaderEpoch: 'int32',
            fetchOffset: 'int64',
            ...(isNew ? { lastFetchedEpoch: 'int32' } : {}),
            logStartOffset: 'int64',
            partitionMaxBytes: 'int32',
          },
        },
      },
    },
    forgottenTopics: { each: { topic: 'string', partitions: { each: 'int32' } } },
    rackId: 'string',
  };
}

export const TRANSLATIONS: Readonly<Record<number, Translation>> = {
  // Fetch
  1: {
    version: 12,
    oldVersion: 11,
    request: fetchFields(true),
    oldRequest: fetchFields(false),
    response: {
      ...RESULT,
      sessionId: 'int32',
      responses: {
        each: {
          topic: 'string',
          partitions: {
            each: {
              partitionIndex: 'int32',
              errorCode: 'int16',
              highWatermark: 'int64',
              lastStableOffset: 'int64',
              logStartOffset: 'int64',
              abortedTransactions: { each: { producerId: 'int64', firstOffset: 'int64' } },
              preferredReadReplica: 'int32',
              records: 'bytes',
            },
          },
        },
      },
    },
  },
  // ListOffsets
  2: {
    version: 6,
    oldVersion: 2,
    request: askedOffsets(true),
    oldRequest: askedOffsets(false),
    response: listedOffsets(true),
    oldResponse: listedOffsets(false),
  },
  [METADATA]: {
    version: 9,
    oldVersion: 2,
    request: {
      topics: { each: { name: 'string' } },
      allowAutoTopicCreation: 'boolean',
      includeClusterOperations: 'boolean',
      includeTopicOperations: 'boolean',
    },
    oldRequest: { topics: { each: { name: 'string' } } },
    response: {
      throttleTimeMs: 'int32',
      ...BROKERS,
      topics: { each: topicFields(true) },
      clusterOperations: 'int32',
    },
    oldResponse: { ...BROKERS, topics: { each: topicFields(false) } },
  },
  // OffsetCommit
  8: {
    version: 8,
    oldVersion: 7,
    request: {
      ...MEMBER,
      ...INSTANCE,
      topics: {
        each: {
          name: 'string',
          partitions: {
            each: {
              partitionIndex: 'int32',
              committedOffset: 'int64',
              committedLeaderEpoch: 'int32',
              metadata: 'string',
            },
          },
        },
      },
    },
    response: {
      throttleTimeMs: 'int32',
      topics: {
        each: {
          name: 'string',
          partitions: { each: { partitionIndex: 'int32', errorCode: 'int16' } },
        },
      },
    },
  },
  // OffsetFetch
  9: {
    version: 8,
    oldVersion: 5,
    request: {
      groups: { each: { groupId: 'string', ...ASKED_TOPICS } },
      requireStable: 'boolean',
    },
    oldRequest: { groupId: 'string', ...ASKED_TOPICS },
    response: {
      throttleTimeMs: 'int32',
      groups: { each: { groupId: 'string', ...COMMITTED_TOPICS, errorCode: 'int16' } },
    },
    oldResponse: { throttleTimeMs: 'int32', ...COMMITTED_TOPICS, errorCode: 'int16' },
    ask: ({ groups }) => groups[0],
    answer: (response, { groups }) => ({
      groups: [{ ...response, groupId: groups[0].groupId }],
    }),
  },
  // FindCoordinator
  10: {
    version: 4,
    oldVersion: 2,
    request: { keyType: 'int8', keys: { each: 'string' } },
    oldRequest: { key: 'string', keyType: 'int8' },
    response: {
      throttleTimeMs: 'int32',
      coordinators: { each: { key: 'string', ...COORDINATOR, ...FAILURE } },
    },
    oldResponse: { throttleTimeMs: 'int32', ...FAILURE, ...COORDINATOR },
    ask: ({ keys, keyType }) => ({ key: keys[0], keyType }),
    answer: (response, { keys }) => ({ coordinators: [{ ...response, key: keys[0] }] }),
  },
  // JoinGroup
  11: {
    version: 6,
    oldVersion: 5,
    request: {
      groupId: 'string',
      sessionTimeoutMs: 'int32',
      rebalanceTimeoutMs: 'int32',
      memberId: 'string',
      ...INSTANCE,
      protocolType: 'string',
      protocols: { each: { name: 'string', metadata: 'bytes' } },
    },
    response: {
      ...RESULT,
      generationId: 'int32',
      protocolName: 'string',
      leader: 'string',
      memberId: 'string',
      members: { each: { memberId: 'string', ...INSTANCE, metadata: 'bytes' } },
    },
  },
  // Heartbeat
  12: { version: 4, oldVersion: 3, request: { ...MEMBER, ...INSTANCE }, response: RESULT },
  // LeaveGroup
  13: {
    version: 4,
    oldVersion: 1,
    request: { groupId: 'string', members: { each: { memberId: 'string', ...INSTANCE } } },
    oldRequest: { groupId: 'string', memberId: 'string' },
    response: {
      ...RESULT,
      members: { each: { memberId: 'string', ...INSTANCE, errorCode: 'int16' } },
    },
    oldResponse: RESULT,
    ask: ({ groupId, members }) => ({ groupId, memberId: members[0].memberId }),
  },
  [SYNC_GROUP]: {
    version: 4,
    oldVersion: 3,
    request: {
      ...MEMBER,
      ...INSTANCE,
      assignments: { each: { memberId: 'string', assignment: 'bytes' } },
    },
    response: { ...RESULT, assignment: 'bytes' },
  },
};
