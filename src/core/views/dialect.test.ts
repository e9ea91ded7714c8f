import { describe, expect, it } from 'vitest';
import {
  SEED_004_STATUSES,
  codeInSeed004,
  PRIORITY_WORDS,
  priorityWord,
  RETRY_ON_WITHOUT_THROWS,
  SEED_001_STATUSES,
  statusIn,
} from './dialect.ts';
import { JOB_STATES, type JobState } from '../job/job.ts';

describe('the states in other words', () => {
  const EXPECTED: Record<JobState, [string, string]> = {
    created: ['PENDING', 'pending'],
    scheduled: ['PENDING', 'pending'],
    queued: ['PENDING', 'pending'],
    retrying: ['PENDING', 'pending'],
    suspended: ['PENDING', 'pending'],
    running: ['RUNNING', 'running'],
    cancelling: ['RUNNING', 'running'],
    succeeded: ['COMPLETED', 'success'],
    failed: ['FAILED', 'dead_letter'],
    cancelled: ['FAILED', 'dead_letter'],
  };

  it.each(JOB_STATES)('%s', (state) => {
    expect([statusIn(SEED_001_STATUSES, state), statusIn(SEED_004_STATUSES, state)]).toEqual(
      EXPECTED[state],
    );
  });
});

it('has three priorities, and finds the nearest for any number', () => {
  expect(Object.values(PRIORITY_WORDS)).toEqual([-10, 0, 10]);
  const words = [-1_000, -10, -1, 0, 1, 10].map(priorityWord);
  expect(words).toEqual(['low', 'low', 'low', 'normal', 'high', 'high']);
});

it('tries again what passes by itself, but not what the code threw', () => {
  expect(RETRY_ON_WITHOUT_THROWS).toEqual([
    'RATE_LIMITED',
    'UPSTREAM_5XX',
    'TIMEOUT',
    'STALLED',
    'NETWORK_ERROR',
    'CRASHED',
    'OUT_OF_MEMORY',
    'LEASE_EXPIRED',
  ]);
});

it('calls a lost lease by the name that seed 004 has for it', () => {
  expect(codeInSeed004('LEASE_EXPIRED')).toBe('JOB_LOCK_TIMEOUT_RECLAIMED');
  expect(codeInSeed004('TIMEOUT')).toBe('TIMEOUT');
});
