import { expect, test } from 'vitest';
import { measure } from './measure.ts';

const ATTEMPTS = 100;
const SPENT_US = 200;

function cpuUs(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return userCPUTime + systemCPUTime;
}

/** Uses this much CPU time at least. */
function spend(): void {
  const endUs = cpuUs() + SPENT_US;
  while (cpuUs() < endUs);
}

test('attempts of a fifth of a millisecond add up', () => {
  let sumMs = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const measured = measure();
    spend();
    sumMs += measured().cpuMs ?? 0;
  }
  expect(sumMs).toBeGreaterThanOrEqual((ATTEMPTS * SPENT_US) / 1_000 - 1);
});

test('the parts of a group are read from one beginning', () => {
  const measured = measure();
  spend();
  const first = measured().cpuMs ?? 0;
  spend();
  expect(measured().cpuMs ?? 0).toBeGreaterThanOrEqual(first);
});
