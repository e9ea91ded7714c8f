import { expect, it } from 'vitest';
import {
  judgeParents,
  omittedWarning,
  type ParentsVerdict,
  type Unsuccessful,
} from './dependency.ts';

const ID = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
const failed: Unsuccessful = { id: ID, ended: 'failed', onFailure: 'fail' };
const fails = (message: string): ParentsVerdict => ({
  kind: 'fail',
  error: { code: 'PARENT_FAILED', message, stack: null, cause: null },
});

it.each<[string, boolean, Unsuccessful | null, ParentsVerdict]>([
  ['waits while one is open', true, null, { kind: 'wait' }],
  ['runs when all have ended', false, null, { kind: 'run' }],
  ['fails with its parent', false, failed, fails(`its parent ${ID} failed`)],
  ['fails at once, while another is open', true, failed, fails(`its parent ${ID} failed`)],
  [
    'fails with a cancelled parent',
    false,
    { ...failed, ended: 'cancelled' },
    fails(`its parent ${ID} was cancelled`),
  ],
  ['is cancelled if asked so', true, { ...failed, onFailure: 'cancel' }, { kind: 'cancel' }],
])('%s', (_, open, unsuccessful, verdict) => {
  expect(judgeParents(open, unsuccessful)).toEqual(verdict);
});

it('omitted outcomes are counted in a warning', () => {
  expect(omittedWarning([{}, {}], 'parents')).toBeNull();
  expect(omittedWarning([{}, { omitted: true }, { omitted: true }], 'children')).toMatch(
    /^2 of 3 outcomes of children are omitted/,
  );
});
