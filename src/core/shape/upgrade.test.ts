import { expect, test } from 'vitest';
import { defineCommand } from '../definition/define-command.ts';
import { defineJob } from '../definition/define.ts';
import { newerShapeDelayMs, upgradedParams, upgradesOf } from './upgrade.ts';

const run = () => null;
const same = (old: unknown) => old;

test('the highest key is the current shape', () => {
  const definition = defineJob({ key: 'a', run, upgrade: { 3: same, 2: same } });
  expect(definition.info.paramsShape).toBe(3);
  expect(definition.paramsShape).toBe(3);
  expect(defineJob({ key: 'b', run }).info.paramsShape).toBe(1);
  expect(defineJob({ key: 'b', run, upgrade: {} }).info.paramsShape).toBe(1);
});

test.each([
  [{ 1: same }, 'a: upgrade: its keys must be 2, 3, … without gaps: found "1" in place of 2'],
  [
    { 2: same, 4: same },
    'a: upgrade: its keys must be 2, 3, … without gaps: found "4" in place of 3',
  ],
  [{ two: same }, 'a: upgrade: its keys must be 2, 3, … without gaps: found "two" in place of 2'],
  [{ 2: 'no' }, 'a: upgrade: 2 must be a function'],
  [[same], 'a: upgrade must be an object of functions: { 2: (old) => new }'],
  [null, 'a: upgrade must be an object of functions: { 2: (old) => new }'],
])('refuses %j', (upgrade, message) => {
  expect(() => defineJob({ key: 'a', run, upgrade: upgrade as never })).toThrow(message);
});

test('a command has no code that could upgrade', () => {
  const options = { key: 'a', command: ['true'], upgrade: { 2: same } };
  expect(() => defineCommand(options as never)).toThrow(
    'unknown option of defineCommand "upgrade"',
  );
});

test('applies the functions after the shape of the params, in order', async () => {
  const upgrades = upgradesOf('a', {
    2: (old: string[]) => [...old, 'two'],
    3: async (old: string[]) => [...old, 'three'],
  });
  expect(await upgradedParams(upgrades, 1, [])).toEqual(['two', 'three']);
  expect(await upgradedParams(upgrades, 2, [])).toEqual(['three']);
  expect(await upgradedParams(upgrades, 3, [])).toEqual([]);
});

test('a function that throws is named', async () => {
  const upgrades = upgradesOf('a', {
    2: same,
    3: () => {
      throw new Error('no such customer');
    },
  });
  await expect(upgradedParams(upgrades, 1, {})).rejects.toMatchObject({
    code: 'PARAMS_UPGRADE_FAILED',
    message: 'the upgrade of the params from shape 2 to 3 failed: no such customer',
  });
});

test('a job that is too new waits longer each time, at most ten minutes', () => {
  expect([1, 2, 3, 100].map(newerShapeDelayMs)).toEqual([1_000, 2_000, 4_000, 600_000]);
});
