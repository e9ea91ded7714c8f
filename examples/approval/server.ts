import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = new URL('bin/longshore.js', import.meta.resolve('longshore/package.json'));

/** `longshore start` as a process of its own, on this port. */
export async function startServer(port: number): Promise<{ stop(): Promise<void> }> {
  const { PATH, HOME, DATABASE_URL } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(BIN), 'start', '--json'], {
    env: {
      PATH,
      HOME,
      ...(DATABASE_URL && { DATABASE_URL }),
      LONGSHORE_DATA: '.longshore/examples',
      LONGSHORE_PORT: String(port),
      // The beginning of the links that jobs make.
      LONGSHORE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      LONGSHORE_JOBS: fileURLToPath(new URL('./jobs', import.meta.url)),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await isUp(child);
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** It prints one JSON document once it is up. */
async function isUp(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.trimEnd().endsWith('}')) resolve();
    });
  });
}
