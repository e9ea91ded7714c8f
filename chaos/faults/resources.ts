import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

const HOUR_SECONDS = 3_600;

const connectionsTerminated: Fault = {
  kind: 'connections-terminated',
  number: 'F7',
  what: 'pg_terminate_backend for every connection of one server',
  holdMs: [0, 100],
  inject: async (world, pick) => {
    const slot = world.choose(world.direct, pick);
    if (!slot || world.isBusy('postgres')) return null;
    const ports = slot.link.serverPorts;
    await world.database.use(async (client) => {
      const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
        where client_port = any ($1)`;
      await client.query(terminate, [ports]);
    });
    return { targets: [slot.name], note: `${ports.length}`, heal: async () => undefined };
  },
};

/** Open connections stay open; new ones are refused. */
const connectionsExhausted: Fault = {
  kind: 'connections-exhausted',
  number: 'F14',
  what: 'another client takes every free connection of PostgreSQL',
  holdMs: [1_500, 3_000],
  inject: async (world) => {
    if (world.isBusy('postgres')) return null;
    const url = world.database.urlThrough(world.database.port);
    const taken: Client[] = [];
    for (;;) {
      const client = new Client({ connectionString: url, application_name: 'chaos hog' });
      client.on('error', () => undefined);
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      if (!connected) break;
      taken.push(client);
    }
    const heal = async () => {
      await Promise.all(taken.map(async (client) => await client.end().catch(() => undefined)));
      await world.database.back();
    };
    return { targets: ['postgres'], note: `${taken.length}`, heal };
  },
};

const snapshotHeld: Fault = {
  kind: 'snapshot-held',
  number: 'F22',
  what: 'a forgotten transaction blocks vacuum',
  holdMs: [8_000, 15_000],
  inject: async (world) => {
    if (world.isBusy('postgres')) return null;
    const url = world.database.urlThrough(world.database.port);
    const client = new Client({ connectionString: url, application_name: 'chaos snapshot' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin isolation level repeatable read');
    await client.query('select count(*) from longshore.waiting');
    return { targets: [], heal: async () => await client.end().catch(() => undefined) };
  },
};

const clockJump: Fault = {
  kind: 'clock-jump',
  number: 'F15',
  what: 'the wall clock of one server jumps by an hour, either way, and later back',
  holdMs: [4_000, 10_000],
  impossible: ({ clocks }) => (typeof clocks === 'string' ? clocks : null),
  inject: async (world, pick) => {
    const { clocks } = world;
    const slot = world.choose(world.slots, pick);
    if (typeof clocks === 'string' || !slot) return null;
    const seconds = (pick * 1_000) % 2 < 1 ? HOUR_SECONDS : -HOUR_SECONDS;
    await clocks.shift(slot.name, seconds);
    const heal = async () => await clocks.shift(slot.name, 0);
    return { targets: [slot.name], note: `${seconds} s`, heal };
  },
};

const filesExhausted: Fault = {
  kind: 'files-exhausted',
  number: 'F24',
  what: 'a worker may open no more files, sockets or pipes',
  holdMs: [1_500, 4_000],
  inject: async (world, pick) => {
    // Node itself cannot load a program without files, so those that start are left alone.
    const up = world.ofRole('worker').filter(({ isUp }) => isUp);
    const slot = world.choose(up, pick);
    const pid = slot?.pid;
    if (!slot || pid === undefined) return null;
    const limits = ['--pid', `${pid}`];
    const before = await run('prlimit', [...limits, '--nofile', '-o', 'SOFT', '--noheadings']);
    const open = (await readdir(`/proc/${pid}/fd`)).length;
    await run('prlimit', [...limits, `--nofile=${open}:`]);
    const heal = async () => {
      // It may have ended meanwhile, for another reason.
      const restore = run('prlimit', [...limits, `--nofile=${before.stdout.trim()}:`]);
      await restore.catch(() => undefined);
    };
    return { targets: [slot.name], note: `${open} open`, heal };
  },
};

export const RESOURCE_FAULTS: readonly Fault[] = [
  connectionsTerminated,
  connectionsExhausted,
  snapshotHeld,
  clockJump,
  filesExhausted,
];
