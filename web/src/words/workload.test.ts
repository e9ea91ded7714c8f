import { expect, test } from 'vitest';
import { ago, madeDefinition, madeGroup, madeJob } from './made.fixture.ts';
import { workloads } from './workload.ts';

test('what needs looking at comes first, and what was never published is counted too', () => {
  const of = (definitionKey: string, seconds = 0) =>
    madeJob({ definitionKey, queuedAt: ago(seconds) });
  const loads = workloads(
    ['idle', 'busy', 'poison'].map((key) => madeDefinition({ key, owner: 'team' })),
    {
      queued: [of('unknown', 5), of('busy', 90), of('busy', 60)],
      running: [of('busy')],
      retrying: [],
      measured: [{ key: 'idle', depth: 0, running: 0, states: { retrying: 7 } }],
      failures: [madeGroup({ definitions: [{ definitionKey: 'poison', count: 3, trend: [] }] })],
    },
  );
  expect(loads.map(({ key }) => key)).toEqual(['poison', 'busy', 'unknown', 'idle']);
  expect(loads.at(-1)).toMatchObject({ key: 'idle', retrying: 7 });
  expect(loads[1]).toEqual({
    key: 'busy',
    owner: 'team',
    queued: 2,
    oldestQueuedAt: ago(90),
    running: 1,
    retrying: 0,
    failed: 0,
  });
});
