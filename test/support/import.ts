import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';
import { type Job, Longshore } from '../../src/client/index.ts';
import { definitionInfo } from '../../src/core/definition/check-definition.ts';
import { HttpServer } from '../../src/http/server.ts';
import type { ImportReport } from '../../src/import/report.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { publishDefinitions } from '../../src/store/enqueue/definitions.ts';
import { run } from './cli.ts';
import { BIN } from './processes.ts';
import { sharedDatabase } from './servers/database.ts';

/** A server to import into. `strict` is a definition that takes only `{ to: string }`. */
export function importTarget() {
  const database = sharedDatabase();
  const target = { database, server: {} as HttpServer, client: {} as Longshore };
  beforeAll(async () => {
    const { db, enqueuer } = database;
    const paramsSchema = z.toJSONSchema(z.object({ to: z.string() }));
    await publishDefinitions(db, [definitionInfo({ key: 'strict' }, { paramsSchema })]);
    const at = { host: '127.0.0.1', port: 0, version: '0' };
    target.server = new HttpServer({ db, enqueuer, log: silentLog, ...at });
    await target.server.start();
    target.client = new Longshore({ url: target.server.address });
  });
  afterAll(async () => await target.server.stop());
  return target;
}

/** Runs `longshore import …` with the URL of the source in SOURCE_URL. */
export async function longshoreImport(url: string, source: string, args: readonly string[]) {
  const env = { LONGSHORE_URL: url, SOURCE_URL: source };
  const all = ['import', ...args, '--from', 'SOURCE_URL', '--json'];
  const { code, stdout, stderr } = await run(all, { env });
  const report = stdout === '' ? null : (JSON.parse(stdout) as ImportReport);
  return { code, stderr, report };
}

/** The newest first. */
export async function jobsHere(client: Longshore, definitionKey: string): Promise<Job[]> {
  const jobs: Job[] = [];
  for await (const job of client.listAll({ definitionKey })) jobs.push(job);
  return jobs;
}

/**
 * Runs the real program, and kills it with SIGKILL when the server has stored its first batch, before
 * the program knows.
 */
export async function killedImport(address: string, source: string, args: readonly string[]) {
  const env = { PATH: process.env['PATH'], SOURCE_URL: source };
  let stored = 0;
  const proxy = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    const onward = request(new URL(url, address), { method, headers }, (answer) => {
      if (url === '/v1/jobs/batch' && answer.statusCode === 202) {
        stored += 1;
        child.kill('SIGKILL');
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const words = [BIN, 'import', ...args, '--from', 'SOURCE_URL', '--url', url];
  const child = spawn(process.execPath, words, { env, stdio: 'ignore' });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  proxy.closeAllConnections();
  proxy.close();
  return { signal, stored };
}
