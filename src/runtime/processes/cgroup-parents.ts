import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface CgroupParent {
  base: string;
  version: 1 | 2;
}

export type Controller = 'memory' | 'pids';

/**
 * Where this process can create groups for a controller: below its own group, or (version 2, where
 * a group with processes cannot delegate controllers) beside it. Version 2 comes first.
 */
export function cgroupParents(controller: Controller): CgroupParent[] {
  return parentsIn(readText('/proc/self/cgroup'), readText('/proc/self/mountinfo'), controller);
}

export function parentsIn(
  cgroup: string,
  mountinfo: string,
  controller: Controller = 'memory',
): CgroupParent[] {
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  const found: CgroupParent[] = [];
  for (const line of cgroup.split('\n')) {
    const [, controllers, ownPath] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || ownPath === undefined) continue;
    const version = controllers === '' ? 2 : 1;
    if (version === 1 && !controllers.split(',').includes(controller)) continue;
    const mount = mounts.find((fields) => isMountOf(version, fields, controller));
    // The fourth field is the mounted group, which in a container is not the root.
    const [root, mountPoint] = mount?.slice(3, 5) ?? [];
    if (root === undefined || mountPoint === undefined) continue;
    const own = join(mountPoint, relative(root, ownPath));
    found.push({ base: own, version });
    if (version === 2 && own !== mountPoint) found.push({ base: dirname(own), version });
  }
  return found.sort((a, b) => b.version - a.version);
}

function isMountOf(version: 1 | 2, fields: readonly string[], controller: Controller): boolean {
  const [type, , options = ''] = fields.slice(fields.indexOf('-') + 1);
  if (version === 2) return type === 'cgroup2';
  return type === 'cgroup' && options.split(',').includes(controller);
}

/** Empty when the file does not exist. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
