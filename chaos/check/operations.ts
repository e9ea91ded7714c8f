import type { Call, ClientEvent, Micros, WantedJob } from '../history/history.ts';

/** A client's request from its start to its answer. */
export interface Operation {
  op: number;
  api: string;
  call: Call;
  invokedAt: Micros;
  /** Infinity when the client never heard anything. */
  endedAt: Micros;
  result: 'ok' | 'fail' | 'unknown';
  jobs: { id: string; status: string }[];
  status: number | null;
}

export type Enqueue = Operation & { call: Extract<Call, { name: 'enqueue' }> };

/** A request without an answer has an unknown result, like one whose connection broke. */
export function operationsOf(events: readonly ClientEvent[]): Operation[] {
  const operations = new Map<number, Operation>();
  for (const event of events) {
    if (event.phase === 'invoke') {
      const { op, api, call, at } = event;
      const open = { result: 'unknown', endedAt: Number.POSITIVE_INFINITY } as const;
      operations.set(op, { op, api, call, invokedAt: at, ...open, jobs: [], status: null });
      continue;
    }
    const operation = operations.get(event.op);
    if (!operation) throw new Error(`operation ${event.op} was answered and never begun`);
    operation.result = event.phase;
    operation.endedAt = event.at;
    if (event.phase === 'ok') operation.jobs = event.jobs;
    if (event.phase === 'fail') operation.status = event.status;
  }
  return [...operations.values()];
}

export function isEnqueue(operation: Operation): operation is Enqueue {
  return operation.call.name === 'enqueue';
}

/** The jobs that a request asks for, with the callbacks of a batch; not those that these will spawn. */
export function askedBy(call: Call): WantedJob[] {
  switch (call.name) {
    case 'enqueue':
    case 'add':
      return call.jobs;
    case 'batch': {
      const { jobs, onComplete, onSuccess } = call.batch;
      return [...jobs, ...(onComplete ? [onComplete] : []), ...(onSuccess ? [onSuccess] : [])];
    }
    case 'close-batch':
    case 'cancel-batch':
    case 'cancel':
    case 'release':
    case 'signal':
    case 'retry':
    case 'get':
      return [];
  }
}
