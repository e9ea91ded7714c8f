import fc from 'fast-check';
import { expect } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide } from '../../../src/core/job/lifecycle.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import { type NewChild, spawnChildren } from '../../../src/store/edges/spawn-children.ts';
import { addJob, aUse, requestOf } from './enqueue-steps.ts';
import { RULES, settleInModel } from './outcomes.ts';
import { aClaim, findClaim } from './picks.ts';
import { type Step, step } from './step.ts';

const aSpawn = fc.record({
  claim: aClaim,
  /** Whether it then waits for them. */
  waits: fc.boolean(),
  children: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      use: aUse.map((use) => ({ ...use, key: null })),
    }),
    { minLength: 1, maxLength: 2, selector: ({ name }) => name },
  ),
});

/** A claim, which may be lost, asks for children, of which some may exist. */
export const spawnStep: fc.Arbitrary<Step> = aSpawn.map((how) =>
  step('spawn', how, async (model, world) => {
    const claimed = findClaim(model, how.claim);
    const { id, claim } = claimed;
    const wanted: NewChild[] = [];
    for (const { name, use } of how.children) {
      const entry = await world.enqueuer.prepare(requestOf(world, use));
      wanted.push({ name, asked: `${use.queue}`, entry });
    }
    const spawned = await world.db.transaction(
      async (tx) => await spawnChildren(tx, { shard: 0, id, claim }, wanted),
    );
    if (!model.owns({ id, claim }) || model.job(id).state !== 'running') {
      world.note('a claim that is lost spawns nothing');
      return expect(spawned).toBeNull();
    }
    const children = [...model.job(id).children];
    for (const [index, { name, use }] of how.children.entries()) {
      const position = children.findIndex((child) => child.name === name);
      const answer = spawned?.children[index];
      if (position >= 0) {
        world.note('a child that exists is not stored again');
        expect(answer).toMatchObject({ id: children[position]?.id, position });
        continue;
      }
      expect(answer).toEqual({ id: answer?.id, position: children.length });
      addJob(model, world, answer?.id ?? '', use);
      model.change(answer?.id ?? '', { watched: true });
      children.push({ id: answer?.id ?? '', name, ended: null });
      world.note('a child is stored');
    }
    model.change(id, { children });
    if (!how.waits) return;
    const outcome = { kind: 'suspended', children: true } as const;
    const transition = decide({ ...claimed, ...RULES, state: 'running' }, outcome, 0.5);
    const settlement = { id, claim, was: 'running', transition, usage: NO_USAGE } as const;
    expect(await settle(world.db, 0, [settlement])).toMatchObject([{ id }]);
    settleInModel(model, id, { outcome, usage: NO_USAGE, random: 0.5 });
    model.resume(id);
  }),
);
