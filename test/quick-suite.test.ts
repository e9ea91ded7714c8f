import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMPLETE_ONLY, QUICK_END_TO_END } from './support/checks/quick-suite.ts';

it.each([...Object.keys(COMPLETE_ONLY), ...QUICK_END_TO_END])('%s exists', (file) => {
  expect(existsSync(new URL(`../${file}`, import.meta.url))).toBe(true);
});
