import { expect, test } from 'vitest';
import { ago, madeDefinition, madeGroup, madeStats, NOW } from '../made.fixture.ts';
import { workloads } from './workload.ts';

test('what needs looking at comes first, and what was never published is counted too', () => {
  const { states } = madeStats();
  const loads = workloads(
    ['idle', 'busy', 'poison'].map((key) => madeDefinition({ key, owner: 'team' })),
    {
      stats: {
        at: NOW.toISOString(),
        definitions: [
          madeStats({ key: 'unknown', depth: 1, oldestAgeMs: 5_000 }),
          madeStats({ key: 'busy', depth: 2_500, running: 1, oldestAgeMs: 90_000 }),
          madeStats({ key: 'idle', states: { ...states, retrying: 7 } }),
        ],
      },
      failures: [madeGroup({ definitions: [{ definitionKey: 'poison', count: 3, trend: [] }] })],
    },
  );
  expect(loads.map(({ key }) => key)).toEqual(['poison', 'busy', 'unknown', 'idle']);
  expect(loads.at(-1)).toMatchObject({ key: 'idle', retrying: 7 });
  expect(loads[1]).toEqual({
    key: 'busy',
    owner: 'team',
    queued: 2_500,
    oldestQueuedAt: ago(90),
    running: 1,
    retrying: 0,
    failed: 0,
  });
});
