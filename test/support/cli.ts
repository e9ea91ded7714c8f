import { PassThrough, Readable } from 'node:stream';
import type { Command } from 'commander';
import type { App, AppSummary, Check } from '../../src/app/app.ts';
import type { KeyDesk } from '../../src/app/keys-app.ts';
import type { Cli } from '../../src/cli/cli.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runCli } from '../../src/cli/run.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** The command line inside the test: its streams are kept, its clock stands still. */

export interface Around {
  stdin?: string;
  env?: Record<string, string>;
  app?: Partial<App>;
  checks?: Check[];
  desk?: Partial<KeyDesk>;
  /** Both outputs are a terminal of 100 columns. */
  terminal?: true;
}

export const SUMMARY: AppSummary = {
  database: 'PostgreSQL 18.4 (embedded, ./.longshore/pg)',
  address: 'http://127.0.0.1:4400',
  definitions: [
    { key: 'image.resize', version: 2 },
    { key: 'hello', version: 1 },
  ],
  problems: [],
  slots: 8,
};

/** All commands, for inspection: none of them is run. */
export function idleProgram(): Command {
  return createProgram({
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    clock: systemClock,
    exitCode: 0,
    onSignal: null,
    exit: () => {},
    loadApp: () => Promise.reject(new Error('no command is run here')),
  });
}

/** Begins a command, so that a test can do something before it ends. */
export function start(
  args: string[],
  { stdin = '', env = {}, app, checks = [], desk: own, terminal }: Around = {},
) {
  const desk = own as KeyDesk;
  const stdout = collect();
  const stderr = collect();
  if (terminal) {
    for (const { stream } of [stdout, stderr]) Object.assign(stream, { isTTY: true, columns: 100 });
  }
  const exits: number[] = [];
  const cli: Cli = {
    stdin: Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    clock: { now: () => new Date('2030-01-01T00:01:00Z'), monotonicMs: () => 0, random: () => 0 },
    env,
    directory: '/nowhere',
    exitCode: 0,
    onSignal: null,
    exit: (code) => exits.push(code),
    loadApp: async () => ({
      startApp: async () => ({
        summary: SUMMARY,
        stop: async () => {},
        ...app,
      }),
      startRemoteWorker: async (_config, { url }) => ({
        summary: { ...SUMMARY, database: `none: jobs come from ${url}` },
        stop: async () => {},
        ...app,
      }),
      startIngest: async (_config, plan) => ({
        summary: { ...SUMMARY, database: JSON.stringify(plan) },
        stop: async () => {},
        ...app,
      }),
      migrateApp: async () => ({ applied: ['0001_schema'], database: 'PostgreSQL 18' }),
      diagnose: async () => checks,
      encryptionApp: async (_config, _log, { reseal }) => ({
        keys: [
          { id: '2026', use: 'encrypts', values: reseal ? 12 : 5 },
          { id: '2025', use: 'decrypts', values: reseal ? 0 : 7 },
        ],
        resealed: reseal ? 7 : 0,
        unopened: 0,
      }),
      withKeyDesk: async (_config, _log, _cluster, work) => await work(desk),
      runDueApp: async (_config, _log, { max, seconds }) => ({
        claimed: max,
        succeeded: 2,
        retried: 1,
        deadLettered: 0,
        remaining: seconds,
      }),
    }),
  };
  return { cli, stdout, stderr, exits, ended: runCli(cli, args) };
}

export async function run(args: string[], around: Around = {}) {
  const { ended, stdout, stderr } = start(args, around);
  return { code: await ended, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(): { stream: PassThrough; text: () => string } {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
