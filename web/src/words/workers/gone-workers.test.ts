import { expect, it } from 'vitest';
import { ago, madeWorker, NOW } from '../made.fixture.ts';
import { earlierWords, goneWorkers } from './gone-workers.ts';

it('tells workers that died within the hour from all others', () => {
  const dead = { status: 'dead' } as const;
  const workers = [
    madeWorker({ ...dead, workerId: 'a', lost: true, heartbeatAt: ago(60) }),
    madeWorker({ ...dead, workerId: 'b', lost: true, heartbeatAt: ago(4_000) }),
    madeWorker({ ...dead, workerId: 'c', lost: false, heartbeatAt: ago(60) }),
    madeWorker({ ...dead, workerId: 'd', lost: false, heartbeatAt: ago(70) }),
  ];
  const { recent, earlier } = goneWorkers(workers, NOW);
  expect(recent.map(({ workerId }) => workerId)).toEqual(['a']);
  expect(earlierWords(earlier)).toBe('2 stopped, 1 died more than an hour ago');
});
