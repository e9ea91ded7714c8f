import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { afterEach, expect, test, vi } from 'vitest';
import { Output } from './output.ts';

afterEach(() => vi.unstubAllEnvs());

function painted({ isTTY, color }: { isTTY: boolean; color: boolean }): string {
  const { getColorDepth } = WriteStream.prototype;
  const stdout = Object.assign(new PassThrough(), { isTTY, getColorDepth });
  return new Output({ stdout, stderr: stdout, json: false, quiet: false, color }).paint('red', 'x');
}

test('colours are for terminals only, and respect NO_COLOR', () => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm-256color');
  expect(painted({ isTTY: true, color: true })).toBe('\u001b[31mx\u001b[39m');
  expect(painted({ isTTY: false, color: true })).toBe('x');
  expect(painted({ isTTY: true, color: false })).toBe('x');
  vi.stubEnv('NO_COLOR', '1');
  expect(painted({ isTTY: true, color: true })).toBe('x');
});

test('a terminal that does not know its width has no limit', () => {
  const widthOf = (columns: number) => {
    const stdout = Object.assign(new PassThrough(), { columns });
    return new Output({ stdout, stderr: stdout, json: false, quiet: false, color: true }).width;
  };
  expect(widthOf(80)).toBe(80);
  expect(widthOf(0)).toBe(Infinity);
});
