import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = new URL('bin/longshore.js', import.meta.resolve('longshore/package.json'));

/** `longshore start` as a process of its own, on a free port; it may send to this machine. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const { PATH, HOME, DATABASE_URL } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(BIN), 'start', '--json'], {
    env: {
      PATH,
      HOME,
      ...(DATABASE_URL && { DATABASE_URL }),
      LONGSHORE_DATA: '.longshore/examples',
      LONGSHORE_PORT: '0',
      LONGSHORE_JOBS: fileURLToPath(new URL('./jobs', import.meta.url)),
      // Elsewhere a webhook may only be sent to public addresses.
      LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { address } = await summaryOf(child);
  return {
    url: address,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What it says once it is up. */
async function summaryOf(child: ChildProcess): Promise<{ address: string }> {
  let said = '';
  return await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.trimEnd().endsWith('}')) resolve(JSON.parse(said) as { address: string });
    });
  });
}
