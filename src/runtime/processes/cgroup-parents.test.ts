import { describe, expect, it } from 'vitest';
import { parentsIn } from './cgroup-parents.ts';

const mount = (root: string, point: string, type: string, options: string) =>
  `40 31 0:37 ${root} ${point} rw,relatime shared:9 - ${type} ${type} rw,${options}`;

describe('where a process may make control groups', () => {
  it.each([
    [
      'version 1, one mount per controller',
      '8:pids:/\n4:memory:/own/group\n0::/\n',
      [
        mount('/', '/sys/fs/cgroup/pids', 'cgroup', 'pids'),
        mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'memory'),
      ],
      [{ base: '/sys/fs/cgroup/memory/own/group', version: 1 }],
    ],
    [
      'version 2, below its own group or beside it',
      '0::/user.slice/worker.scope\n',
      [mount('/', '/sys/fs/cgroup', 'cgroup2', 'nsdelegate')],
      [
        { base: '/sys/fs/cgroup/user.slice/worker.scope', version: 2 },
        { base: '/sys/fs/cgroup/user.slice', version: 2 },
      ],
    ],
    [
      'version 2 in a container, never above what it sees',
      '0::/\n',
      [mount('/', '/sys/fs/cgroup', 'cgroup2', 'nsdelegate')],
      [{ base: '/sys/fs/cgroup', version: 2 }],
    ],
    [
      'a container of version 1, which sees its own group as the topmost',
      '4:cpu,memory:/docker/abc\n',
      [mount('/docker/abc', '/sys/fs/cgroup/memory', 'cgroup', 'cpu,memory')],
      [{ base: '/sys/fs/cgroup/memory', version: 1 }],
    ],
    [
      'both, the newer first',
      '4:memory:/a\n0::/b\n',
      [
        mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'memory'),
        mount('/', '/sys/fs/cgroup/unified', 'cgroup2', ''),
      ],
      [
        { base: '/sys/fs/cgroup/unified/b', version: 2 },
        { base: '/sys/fs/cgroup/unified', version: 2 },
        { base: '/sys/fs/cgroup/memory/a', version: 1 },
      ],
    ],
    ['nowhere, without a mount', '0::/a\n', [], []],
    ['nowhere, without /proc', '', [], []],
  ])('%s', (_, cgroup, mounts, parents) => {
    expect(parentsIn(cgroup, mounts.join('\n'))).toEqual(parents);
  });
});
