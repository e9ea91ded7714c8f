import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeTree } from '../../../src/artifacts/unpack.ts';

/** A folder that is removed when the test ends, also if parts of it are read-only. */
export async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-artifacts-'));
  onTestFinished(async () => await removeTree(folder));
  return folder;
}
