import { describe, expect, it } from 'vitest';
import { type Service, startAll, stopAll } from './service.ts';

/** Services that write down what happens to them; a name with `!` refuses to start, `?` to stop. */
function services(...names: string[]): { all: Service[]; events: string[] } {
  const events: string[] = [];
  const all = names.map((name) => ({
    name,
    start: async () => {
      if (name.includes('!')) throw new Error(`${name} does not start`);
      events.push(`+${name}`);
    },
    stop: async () => {
      events.push(`-${name}`);
      if (name.includes('?')) throw new Error(`${name} does not stop`);
    },
  }));
  return { all, events };
}

describe('startAll', () => {
  it.each([
    ['starts in order', ['a', 'b', 'c'], ['+a', '+b', '+c'], null],
    ['has nothing to do', [], [], null],
    ['stops what it started', ['a', 'b', 'c!', 'd'], ['+a', '+b', '-b', '-a'], 'c! does not start'],
    ['stops nothing else', ['a!', 'b'], [], 'a! does not start'],
    [
      'tells why the start failed, also when the clean-up fails too',
      ['a', 'b?', 'c!'],
      ['+a', '+b?', '-b?', '-a'],
      'c! does not start',
    ],
  ])('%s', async (_, names, expected, error) => {
    const { all, events } = services(...names);
    const started = startAll(all);
    if (error === null) await started;
    else await expect(started).rejects.toThrow(error);
    expect(events).toEqual(expected);
  });

  it('starts one after the other, never two at once', async () => {
    const first = Promise.withResolvers<void>();
    const { all, events } = services('b');
    const slow: Service = { name: 'a', start: () => first.promise, stop: async () => {} };
    const started = startAll([slow, ...all]);
    await Promise.resolve();
    expect(events).toEqual([]);
    first.resolve();
    await started;
    expect(events).toEqual(['+b']);
  });
});

describe('stopAll', () => {
  it.each([
    ['stops in reverse', ['a', 'b', 'c'], ['-c', '-b', '-a'], null],
    ['goes on after an error', ['a', 'b?', 'c'], ['-c', '-b?', '-a'], 'b? does not stop'],
    ['throws the first error', ['a?', 'b', 'c?'], ['-c?', '-b', '-a?'], 'c? does not stop'],
  ])('%s', async (_, names, expected, error) => {
    const { all, events } = services(...names);
    const stopped = stopAll(all);
    if (error === null) await stopped;
    else await expect(stopped).rejects.toThrow(error);
    expect(events).toEqual(expected);
  });

  it('leaves the list as it was', async () => {
    const { all } = services('a', 'b');
    await stopAll(Object.freeze(all));
    expect(all.map(({ name }) => name)).toEqual(['a', 'b']);
  });
});
