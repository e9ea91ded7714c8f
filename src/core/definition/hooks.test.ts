import { expect, it } from 'vitest';
import { definitionInfo } from './check-definition.ts';
import { hasSuccessHooks, hasTerminalHooks, hookDefinition, hookKey, hookOwner } from './hooks.ts';
import type { HookName } from '../views/history.ts';

const info = (hooks: HookName[]) =>
  definitionInfo({ key: 'a', maxAttempts: 9, retryOn: [] }, { paramsSchema: {}, hooks });

it('have a key that no definition can have', () => {
  expect(hookKey('image.resize')).toBe('$hook:image.resize');
  expect(hookOwner('$hook:image.resize')).toBe('image.resize');
  expect(hookOwner('image.resize')).toBeNull();
  expect(() => definitionInfo({ key: hookKey('a') }, { paramsSchema: null })).toThrow(
    'key must be',
  );
});

it('run as their definition does, by rules of their own', () => {
  const hook = hookDefinition({ ...info(['onEnd']), command: { argv: ['x'], cwd: null } });
  expect(hook).toMatchObject({ key: '$hook:a', isolation: 'process', maxAttempts: 3 });
  expect(hook).toMatchObject({ retryOn: null, hooks: [], command: null, paramsSchema: null });
});

it.each<[HookName[], boolean, boolean]>([
  [[], false, false],
  [['onStart'], false, false],
  [['onFail'], true, false],
  [['onSuccess'], true, true],
  [['onEnd'], true, true],
])('%j: a queue to serve %s, at a success %s', (hooks, terminal, success) => {
  expect(hasTerminalHooks(info(hooks))).toBe(terminal);
  expect(hasSuccessHooks(info(hooks))).toBe(success);
});
