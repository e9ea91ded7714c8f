import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export interface ServerUser {
  uid: number;
  gid: number;
}

/** The first folder on the path that the user may not enter, or file that it may not read. */
export async function firstObstacle(
  paths: string[],
  user: ServerUser,
): Promise<string | undefined> {
  for (const wanted of paths) {
    const real = await realpath(wanted).catch(() => undefined);
    if (real === undefined) continue;
    const steps = real.split(path.sep).map((_, i, parts) => parts.slice(0, i + 1).join(path.sep));
    for (const step of steps) {
      const found = await stat(step || path.sep);
      const right = found.isDirectory() ? 0o1 : 0o4;
      const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0;
      if ((found.mode & (right << shift)) === 0) return step;
    }
  }
  return undefined;
}
