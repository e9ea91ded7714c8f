import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal } from '../../../src/core/job/job.ts';
import type { Unique } from '../../../src/core/job/unique.ts';
import { addJob, aUse, requestOf, timeOf, type Use } from './enqueue-steps.ts';
import { isOwned, type Model, type ModelJob } from './model.ts';
import { type Step, step } from './step.ts';
import type { World } from './world.ts';

/** No job of a run gets so old. */
const WINDOW_MS = 24 * 3_600_000;

const aUnique: fc.Arbitrary<Unique> = fc.record({
  key: fc.constantFrom('u', 'u', 'v'),
  while: fc.constantFrom<Unique['while']>('queued', 'active', { windowMs: WINDOW_MS }),
  onConflict: fc.constantFrom('existing', 'replace'),
});

export const enqueueUniqueStep: fc.Arbitrary<Step> = fc.tuple(aUse, aUnique).map(([use, unique]) =>
  step('enqueueUnique', [use, unique], async (model, world) => {
    // Few queues and few keys, so that most of them meet an earlier job.
    const queue = use.queue % 2;
    await enqueueUnique(model, world, { ...use, queue, key: null, unique }, unique);
  }),
);

/** The name of a unique key: of a tenant and a definition. */
export function uniqueName({ tenant, definitionKey }: Owner, key: string): string {
  return `unique\n${tenant}\n${definitionKey}\n${key}`;
}

type Owner = Pick<ModelJob, 'tenant' | 'definitionKey'>;

/** Whether a job keeps others with its key out. */
export function holdsKey(during: Unique['while'], { state }: ModelJob): boolean {
  if (during === 'queued')
    return !isTerminal(state) && !['running', 'cancelling', 'suspended'].includes(state);
  return during === 'active' ? !isTerminal(state) : true;
}

async function enqueueUnique(model: Model, world: World, use: Use, unique: Unique): Promise<void> {
  const name = uniqueName(requestOf(world, use), `key:${unique.key}`);
  const holder = model.jobs.get(model.keys.get(name)?.id ?? '');
  const [answer] = await world.enqueuer.start([requestOf(world, use)]);
  const isHeld = holder !== undefined && holdsKey(unique.while, holder);
  if (isHeld && unique.onConflict === 'replace' && replaces(holder, use)) {
    replaceInModel(model, holder, use);
    world.note('a unique job replaces one that waits');
    const answered = { jobId: holder.id, status: holder.state, created: false, replaced: true };
    return expect(answer).toEqual(answered);
  }
  // A caller that wants the latest params gets a job of its own once the earlier one has begun.
  const makes = unique.onConflict === 'replace' && unique.while === 'queued';
  if (isHeld && !makes) {
    world.note('a unique job is answered with the earlier one');
    return expect(answer).toEqual({ jobId: holder.id, status: holder.state, created: false });
  }
  const id = answer?.jobId ?? '';
  if (holder) world.note('a unique key is taken over');
  addJob(model, world, id, use);
  model.keys.set(name, { id, meaning: '' });
  expect(answer).toEqual({ jobId: id, status: model.job(id).state, created: true });
}

/** Only a job that waits and was never claimed; one that may run is not sent back to wait. */
function replaces(holder: ModelJob, use: Use): boolean {
  if (isTerminal(holder.state) || isOwned(holder) || holder.claim > 0) return false;
  return holder.state !== 'queued' || !isLater(use);
}

/** It keeps its state and its position. */
function replaceInModel(model: Model, holder: ModelJob, use: Use): void {
  const { state } = holder;
  const later = isLater(use);
  const waits = state === 'scheduled' || (state === 'created' && later);
  model.change(holder.id, {
    params: JSON.parse(use.params === 2 ? '"other"' : '{"a":1,"b":[2]}'),
    priority: use.priority,
    runAt: waits ? { waitMs: null, due: !later } : null,
  });
}

function isLater(use: Use): boolean {
  const [, , runAt] = timeOf(use);
  return runAt !== null && !runAt.due;
}
