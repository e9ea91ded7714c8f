import type { History } from '../history/history.ts';
import { Deployed } from './deployed.ts';
import { Faults } from './faults.ts';
import { FreeSlots } from './free-slots.ts';
import { type Instance, instancesOf } from './instances.ts';
import { type Enqueue, isEnqueue, type Operation, operationsOf } from './operations.ts';
import { type JobRecord, jobRecordsOf } from './job-records.ts';

/** A history put in order once, so that every invariant reads like its sentence. */
export interface Facts {
  history: History;
  operations: Operation[];
  enqueues: Enqueue[];
  records: Map<string, JobRecord>;
  instances: Map<string, Instance>;
  faults: Faults;
  freeSlots: FreeSlots;
  deployed: Deployed;
}

export function factsOf(history: History): Facts {
  const operations = operationsOf(history.client);
  const records = jobRecordsOf(history, operations);
  const instances = instancesOf(history);
  const faults = new Faults(history.faults);
  return {
    history,
    operations,
    enqueues: operations.filter(isEnqueue),
    records,
    instances,
    faults,
    freeSlots: new FreeSlots(history, records, instances, faults),
    deployed: new Deployed(history),
  };
}
