import { nowMs, sleep } from '../harness/clock.ts';
import type { Load, LoadReport } from './commands.ts';
import { HttpConnection } from './http-connection.ts';

const ACCEPTED = 202;
const TICK_MS = 1;

/** Asks an API to start jobs, over many connections, as fast as it answers or at a given rate. */
export async function httpLoad(load: Load): Promise<LoadReport> {
  const connections = await Promise.all(
    Array.from({ length: load.connections }, async () => {
      return await HttpConnection.open(load.port, load.path);
    }),
  );
  try {
    return load.perSecond === undefined
      ? await closedLoop(connections, load)
      : await openLoop(connections, load, load.perSecond);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function closedLoop(connections: HttpConnection[], load: Load): Promise<LoadReport> {
  const report: LoadReport = { jobs: 0, refused: 0, seconds: load.seconds, answersMs: [] };
  const endMs = nowMs() + load.seconds * 1_000;
  let n = 0;
  const caller = async (connection: HttpConnection): Promise<void> => {
    while (nowMs() < endMs) await ask(connection, load, n++, nowMs(), report);
  };
  await Promise.all(connections.map(caller));
  return report;
}

/** The clock of a request starts when it is due, so a wait for a free connection counts. */
async function openLoop(
  connections: HttpConnection[],
  load: Load,
  perSecond: number,
): Promise<LoadReport> {
  const report: LoadReport = { jobs: 0, refused: 0, seconds: load.seconds, answersMs: [] };
  const total = perSecond * load.seconds;
  const free = [...connections];
  const due: { n: number; atMs: number }[] = [];
  const answered = Promise.withResolvers<void>();
  const pump = (): void => {
    while (due.length > 0) {
      const connection = free.pop();
      const request = connection && due.shift();
      if (!request) return;
      ask(connection, load, request.n, request.atMs, report).then(() => {
        free.push(connection);
        if (report.answersMs.length === total) answered.resolve();
        else pump();
      }, answered.reject);
    }
  };
  const startMs = nowMs();
  for (let n = 0; n < total; await sleep(TICK_MS)) {
    const dueByNow = Math.min(total, ((nowMs() - startMs) / 1_000) * perSecond);
    while (n < dueByNow) due.push({ n: n++, atMs: nowMs() });
    pump();
  }
  await answered.promise;
  return report;
}

async function ask(
  connection: HttpConnection,
  load: Load,
  n: number,
  atMs: number,
  report: LoadReport,
): Promise<void> {
  const job = { definitionKey: load.definitionKey, params: { n, at: atMs } };
  const many = load.jobsPerRequest > 1;
  const jobs = many ? Array.from({ length: load.jobsPerRequest }, () => job) : [];
  const status = await connection.post(JSON.stringify(many ? { jobs } : job));
  report.answersMs.push(nowMs() - atMs);
  if (status === ACCEPTED) report.jobs += load.jobsPerRequest;
  else report.refused += load.jobsPerRequest;
}
