import type { MemoryMethod } from '../runtime/processes/cgroup.ts';
import { type Check, ok, warning } from './check.ts';

export function judgeMemoryLimits(method: MemoryMethod): Check {
  if (method !== 'rlimit and RSS watch') {
    return ok('memory-limits', `${method}: the kernel enforces memoryMb`);
  }
  return warning(
    'memory-limits',
    `${method}: a job may exceed its memoryMb for a quarter of a second`,
    'run the worker as root, or with delegated control groups (systemd: Delegate=memory)',
  );
}
