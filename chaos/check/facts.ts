import type { History } from '../history/history.ts';
import { Faults } from './faults.ts';
import { FreeSlots } from './free-slots.ts';
import { type Instance, instancesOf } from './instances.ts';
import { type Enqueue, isEnqueue, type Operation, operationsOf } from './operations.ts';
import { type Story, storiesOf } from './stories.ts';

/** A history put in order once, so that every invariant reads like its sentence. */
export interface Facts {
  history: History;
  operations: Operation[];
  enqueues: Enqueue[];
  stories: Map<string, Story>;
  instances: Map<string, Instance>;
  faults: Faults;
  freeSlots: FreeSlots;
}

export function factsOf(history: History): Facts {
  const operations = operationsOf(history.client);
  const stories = storiesOf(history, operations);
  const instances = instancesOf(history);
  const faults = new Faults(history.faults);
  return {
    history,
    operations,
    enqueues: operations.filter(isEnqueue),
    stories,
    instances,
    faults,
    freeSlots: new FreeSlots(history, stories, instances, faults),
  };
}
