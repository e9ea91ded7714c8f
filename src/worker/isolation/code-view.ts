import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { dirname, join, relative } from 'node:path';
import type { ViewPlan } from './view-plan.ts';

const UNSHARE = '/usr/bin/unshare';
export const NSENTER = '/usr/bin/nsenter';
export const SETPRIV = '/usr/bin/setpriv';

/**
 * A mount namespace in which private folders are replaced by read-only ones at the same paths that
 * contain only what jobs may see. It is made once per worker; each job process enters it as root
 * and becomes the job's user there. It exists as long as a process holds it.
 */
export class CodeView {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Throws where the kernel or the system does not allow it. */
  static async open(plan: ViewPlan, staging: string): Promise<CodeView> {
    const missing = [UNSHARE, NSENTER, SETPRIV].find((program) => !existsSync(program));
    if (missing !== undefined) throw new Error(`${missing} is not installed (package util-linux)`);
    mkdirSync(staging, { mode: 0o700 });
    const script = `set -e\n${mounts(plan, staging).join('\n')}\necho ready\nread -r end || true`;
    const child = spawn(UNSHARE, ['-m', '--propagation', 'private', '/bin/sh', '-c', script], {
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    child.stdin.on('error', () => undefined);
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = new Promise<void>((resolve) => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
    });
    const ready = await Promise.race([firstLine(child.stdout), ended.then(() => null)]);
    try {
      if (ready !== 'ready' || child.pid === undefined) {
        throw new Error(`cannot mount a private view of the code: ${output.trim()}`);
      }
      return new CodeView(openSync(`/proc/${child.pid}/ns/mnt`, 'r'));
    } finally {
      child.stdin.end();
      await ended;
    }
  }

  /** The command prefix that, run as root, becomes that user inside the view. */
  entrance({ uid, gid }: { uid: number; gid: number }): string[] {
    const enter = [NSENTER, `--mount=/proc/${process.pid}/fd/${this.#file}`, '--'];
    const become = [SETPRIV, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    return [...enter, ...become, '--no-new-privs'];
  }

  close(): void {
    closeSync(this.#file);
  }
}

function mounts({ covers, folders, hidden }: ViewPlan, staging: string): string[] {
  return covers.flatMap(({ folder, shown }) => {
    const at = (path: string) => quoted(join(staging, relative(folder, path)));
    return [
      `mount -t tmpfs -o mode=0755,size=4m,nosuid,nodev longshore ${quoted(staging)}`,
      ...shown.flatMap((path) => [
        statSync(path).isDirectory()
          ? `mkdir -p ${at(path)}`
          : `mkdir -p ${at(dirname(path))} && : > ${at(path)}`,
        `mount --rbind ${quoted(path)} ${at(path)}`,
        `mount -o remount,bind,ro,nosuid,nodev ${at(path)}`,
        ...hidden.filter((inner) => inner.startsWith(`${path}/`)).map((inner) => hide(inner, at)),
      ]),
      ...folders
        .filter((path) => path === folder || path.startsWith(`${folder}/`))
        .map((path) => `mkdir -p ${at(path)}`),
      `mount -o remount,ro,mode=0755,nosuid,nodev ${quoted(staging)}`,
      `mount --move ${quoted(staging)} ${quoted(folder)}`,
    ];
  });
}

/** Covers a folder with an empty one, and a file with a device that cannot be opened. */
function hide(path: string, at: (path: string) => string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? `mount -t tmpfs -o ro,mode=0555,size=4k,nosuid,nodev longshore ${at(path)}`
    : `mount --bind /dev/null ${at(path)} && mount -o remount,bind,ro,nosuid,nodev ${at(path)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | null> {
  for await (const line of createInterface({ input: stream })) return line;
  return null;
}
