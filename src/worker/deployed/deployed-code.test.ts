import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { ServedDeployment } from '../../store/deployments/served.ts';
import type { Runners } from '../runners/runners.ts';
import { DeployedCode, type DeploymentSource } from './deployed-code.ts';

const MINUTE_MS = 60_000;
const clock = { now: () => new Date(), monotonicMs: () => Date.now(), random: () => 0.5 };

const served = (number: number): ServedDeployment => ({
  number,
  tenant: 'default',
  sha256: `${number}`,
  format: 'zip',
  bytes: 1,
  manifest: {},
  signature: null,
});

/** Runners that load at once, and have one definition. */
const runners = () =>
  ({
    start: async () => undefined,
    stop: async () => undefined,
    report: { definitions: [{ key: 'report' }], problems: [] },
  }) as unknown as Runners;

/** How often a worker asks, and what it loads, with these deployments. */
function watched(
  list: () => number[],
  take: (number: number) => Promise<void>,
  folderKeys: string[] = [],
) {
  const asked: number[] = [];
  const taken: number[] = [];
  const released: number[] = [];
  const source: DeploymentSource = {
    list: async () => {
      asked.push(Date.now());
      return list().map(served);
    },
    take: async ({ number }) => {
      taken.push(number);
      await take(number);
      return { folder: '', release: async () => void released.push(number) };
    },
    close: async () => undefined,
  };
  const folderDefinitions = () => folderKeys.map((key) => ({ key }) as DefinitionInfo);
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const about = {
    folderDefinitions,
    running: () => [],
    onChange: async () => undefined,
    isNotified: true,
  };
  const code = new DeployedCode({ source, runners, ...about, clock, log });
  return { code, asked, taken, released, lines };
}

describe('deployed code of a worker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('costs a statement a minute without deployments', async () => {
    const { code, asked } = watched(
      () => [],
      async () => undefined,
    );
    await code.start();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(asked.length).toBeLessThanOrEqual(11);
    code.checkSoon();
    await vi.advanceTimersByTimeAsync(0);
    expect(Date.now() - (asked.at(-1) ?? 0)).toBe(0);
    await code.stop();
  });

  it.each([
    [['report', 'other'], 1],
    [['other'], 0],
  ])('warns when the jobs folder has its definitions, too (%j)', async (keys, warnings) => {
    const { code, lines } = watched(
      () => [7],
      async () => undefined,
      keys,
    );
    await code.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(lines).toHaveLength(warnings);
    for (const line of lines) expect(line).toContain('longshore deployments retire 7');
    await code.stop();
    await code.close();
  });

  it('is tried again every two seconds when it cannot be loaded', async () => {
    const { code, taken } = watched(
      () => [1],
      async () => {
        throw new Error('the storage fails');
      },
    );
    await code.start();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(taken.length).toBeGreaterThanOrEqual(20);
    expect(taken.length).toBeLessThanOrEqual(31);
    await code.stop();
  });

  it('is loaded two at a time, the newest first, and all but three are unloaded at once', async () => {
    const gates = new Map<number, () => void>();
    let list = [1, 2, 3, 4, 5, 6];
    const { code, taken, released } = watched(
      () => list,
      async (number) => await new Promise((resolve) => gates.set(number, () => resolve())),
    );
    await code.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(taken).toEqual([6, 5]);
    for (const number of [6, 5, 4, 3, 2, 1]) {
      gates.get(number)?.();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(taken).toEqual([6, 5, 4, 3, 2, 1]);
    list = [6];
    code.checkSoon();
    await vi.advanceTimersByTimeAsync(1_000);
    code.checkSoon();
    await vi.advanceTimersByTimeAsync(0);
    expect(released).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(released.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    await code.stop();
    await code.close();
    expect(released.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
