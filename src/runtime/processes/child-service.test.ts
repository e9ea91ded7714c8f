import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const ENTRY = fileURLToPath(
  new URL('../../../test/support/fixtures/never-stopping.ts', import.meta.url),
);

/** A ready child whose parent is gone, and which never finishes its stop. */
async function orphan(stopMs: number) {
  const child = fork(ENTRY, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  child.send({ stopMs });
  expect(await once(child, 'message')).toMatchObject([{ ready: { pid: child.pid } }, undefined]);
  const stopping = child.stdout && once(child.stdout, 'data');
  child.disconnect();
  expect(String(await stopping)).toBe('stopping\n');
  return { child, exited };
}

describe('a child without its parent', () => {
  it('ends when its stop takes longer than the parent would have waited', async () => {
    const { exited } = await orphan(100);
    expect(await exited).toEqual([1, null]);
  });

  it('ends at once by SIGTERM', async () => {
    const { child, exited } = await orphan(3_600_000);
    child.kill('SIGTERM');
    expect(await exited).toEqual([1, null]);
  });
});
