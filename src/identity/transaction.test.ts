import { expect, it } from 'vitest';
import { TRANSACTION_MS, Transactions } from './transaction.ts';

const made = { state: 's', nonce: 'n', verifier: 'secret-verifier', to: '/ui/', tenant: null };
const here = new Transactions('the client secret');
const sealed = here.seal(made, 1_000);

it('opens in every process with the same client secret, and shows nothing', () => {
  expect(new Transactions('the client secret').open(sealed, 1_000)).toEqual(made);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('verifier');
  expect(here.seal(made, 1_000)).not.toBe(sealed);
});

it('is over after ten minutes', () => {
  expect(here.open(sealed, 1_000 + TRANSACTION_MS - 1)).toEqual(made);
  expect(here.open(sealed, 1_000 + TRANSACTION_MS)).toBeNull();
});

it.each([
  ['another secret', () => new Transactions('another').open(sealed, 1_000)],
  [
    'a changed text',
    () => here.open(`${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`, 1_000),
  ],
  ['a cut text', () => here.open(sealed.slice(0, 20), 1_000)],
  ['no text', () => here.open('', 1_000)],
])('does not open with %s', (_, open) => expect(open()).toBeNull());
