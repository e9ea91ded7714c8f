import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Attempt, type Escape, ESCAPES, type ProbeTargets } from './escape.ts';

/**
 * A job that attacks. It runs where jobs run, gets its targets as the first argument, tries every
 * escape for real, and prints the results. It does no harm: it reads, asks the kernel whether it
 * may signal, and undoes its changes.
 */

type Outcome = Omit<Attempt, 'escape'>;

const escaped = (detail: string): Outcome => ({ result: 'escaped', detail });
const untried = (detail: string): Outcome => ({ result: 'untried', detail });

/** An exception means that it was refused. */
function attempt(act: () => Outcome | string): Outcome {
  try {
    const came = act();
    return typeof came === 'string' ? escaped(came) : came;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { result: 'held', detail: code ?? message };
  }
}

function read(file: string | null, what: string): Outcome {
  if (file === null) return untried(`there is no ${what}`);
  return attempt(() => `${readFileSync(file).length} bytes of ${file}`);
}

function openMemory(pid: number): Outcome {
  return attempt(() => {
    closeSync(openSync(`/proc/${pid}/mem`, 'r'));
    return `/proc/${pid}/mem can be opened`;
  });
}

function signal(pid: number): Outcome {
  return attempt(() => {
    process.kill(pid, 0);
    return `process ${pid} takes signals`;
  });
}

/** Variables that jobs have as well do not count. */
function environmentOf(pid: number): Outcome {
  return attempt(() => {
    const values = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const names = values
      .filter((entry) => /^[^=]+=./.test(entry))
      .map((entry) => entry.split('=')[0]);
    const more = names.filter((name) => name !== undefined && !(name in process.env));
    if (more.length > 0) return `${more.length} variables, such as ${more[0]}`;
    return { result: 'held', detail: 'the values are hidden' };
  });
}

function changePrivateFile(file: string): Outcome {
  return attempt(() => {
    const text = readFileSync(file);
    writeFileSync(file, text);
    return `${file} can be read and written`;
  });
}

function changeCode(files: readonly string[]): Outcome {
  for (const file of files) {
    const tried = attempt(() => {
      closeSync(openSync(file, 'r+'));
      return `${file} can be written`;
    });
    if (tried.result === 'escaped') return tried;
  }
  return { result: 'held', detail: 'it is read-only' };
}

/** The groups of this process, each with its folder. */
function groups(): { path: string; folder: string }[] {
  return readFileSync('/proc/self/cgroup', 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      const parents =
        controllers === ''
          ? ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']
          : [`/sys/fs/cgroup/${controllers}`];
      return parents.map((parent) => ({ path, folder: join(parent, path) }));
    })
    .filter(({ path }) => path.includes('longshore'));
}

function leaveGroup(): Outcome {
  const mine = groups();
  if (mine.length === 0) return untried('this worker has no control groups');
  for (const { folder } of mine) {
    const tried = attempt(() => {
      writeFileSync(join(dirname(dirname(folder)), 'cgroup.procs'), String(process.pid));
      return `it left ${folder}`;
    });
    if (tried.result === 'escaped') return tried;
  }
  return { result: 'held', detail: 'it may not write there' };
}

function takeOffLimits(): Outcome {
  for (const { folder } of groups()) {
    for (const file of ['memory.max', 'memory.limit_in_bytes', 'pids.max']) {
      const tried = attempt(() => {
        writeFileSync(join(folder, file), readFileSync(join(folder, file)));
        return `${join(folder, file)} can be written`;
      });
      if (tried.result === 'escaped') return tried;
    }
  }
  // An unlimited value cannot be raised; "processes" covers that one.
  const script =
    'l=$(ulimit -Hu 2>/dev/null || ulimit -Hp); [ "$l" = unlimited ] && exit 1; ' +
    'ulimit -u unlimited 2>/dev/null || ulimit -p unlimited 2>/dev/null';
  const { status } = spawnSync('/bin/sh', ['-c', script]);
  if (status === 0) return escaped('the limit of processes can be raised');
  return { result: 'held', detail: 'they can only be lowered' };
}

/** A shell starts them; it ends when the kernel refuses one, and all of them end with this job. */
function startProcesses(count: number): Outcome {
  const script = `n=0; while [ $n -lt ${count} ]; do sleep 30 >/dev/null 2>&1 & n=$((n+1)); done; echo all`;
  const options = { encoding: 'utf8', timeout: 20_000 } as const;
  const { stdout, stderr, error } = spawnSync('/bin/sh', ['-c', script], options);
  if (error) return untried(error.message);
  if (stdout.includes('all')) return escaped(`it started ${count}`);
  return { result: 'held', detail: stderr.trim().split('\n').at(-1) ?? `fewer than ${count}` };
}

function gainRights(program: string | null): Outcome {
  if (program === null) return untried('only root can set such a program up');
  return attempt(() => {
    const id = execFileSync(program, ['-u'], { encoding: 'utf8' }).trim();
    if (id === '0' && process.getuid?.() !== 0) return 'it became root';
    return { result: 'held', detail: `it stayed user ${id}` };
  });
}

/** Sends an invalid body: a caller without rights is refused before the body is read. */
async function askForKey(address: string | null): Promise<Outcome> {
  if (address === null) return untried('no server without keys is running');
  try {
    const { status } = await fetch(`${address}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"probe":true}',
    });
    if (status === 400 || status < 300) return escaped(`${address} would make one`);
    return { result: 'held', detail: `status ${status}` };
  } catch (error) {
    return untried(`${address} does not answer: ${(error as Error).message}`);
  }
}

async function probe(targets: ProbeTargets): Promise<Attempt[]> {
  const { workerPid, neighbour } = targets;
  const outcomes: Record<Escape, Outcome> = {
    'neighbour-files': read(neighbour.file, 'neighbour'),
    'neighbour-memory': openMemory(neighbour.pid),
    'neighbour-signal': signal(neighbour.pid),
    'worker-environment': environmentOf(workerPid),
    'worker-memory': openMemory(workerPid),
    'worker-signal': signal(workerPid),
    database: read(targets.databaseFile, 'embedded database'),
    'config-file': read(targets.configFile, 'longshore.config.json with secrets'),
    'private-files': changePrivateFile(targets.privateFile),
    code: changeCode(targets.code),
    setuid: gainRights(targets.setuidProgram),
    'first-key': await askForKey(targets.openServer),
    limits: takeOffLimits(),
    'control-group': leaveGroup(),
    processes: startProcesses(targets.processes),
  };
  return (Object.keys(ESCAPES) as Escape[]).map((escape) => ({ escape, ...outcomes[escape] }));
}

const attempts = await probe(JSON.parse(process.argv[2] ?? '{}') as ProbeTargets);
process.stdout.write(`${JSON.stringify(attempts)}\n`, () => process.exit(0));
