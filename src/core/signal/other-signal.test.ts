import { expect, it } from 'vitest';
import { otherSignal } from './other-signal.ts';

it.each([
  ['approved', 'approved', null],
  [
    'aproved',
    'approved',
    'the job waits for "approved", and "aproved" is stored for later: did you mean "approved"?',
  ],
  ['paid', 'approved', 'the job waits for "approved", and "paid" is stored for later'],
])('%s while it waits for %s', (sent, awaited, detail) => {
  expect(otherSignal(sent, awaited)?.detail ?? null).toBe(detail);
});
