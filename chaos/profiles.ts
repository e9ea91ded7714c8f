import { unknownName } from '../src/core/values/nearest.ts';
import type { Mix } from './load/requests.ts';
import type { Deck } from './plan.ts';

/** How hard a run is, and how long. */
export interface Profile {
  name: string;
  minutes: number;
  clients: number;
  restMs: number;
  backlogMax: number;
  slotsPerWorker: number;
  /** How many schedules are due every few seconds. */
  schedules: number;
  /** Whether workers also beat in Redis. */
  redis: boolean;
  /** Whether there is a `longshore start` besides the single roles. */
  server: boolean;
  /** Faults of the first moments, from the start of the servers on. If there are none, faults begin when all are up. */
  startUp: Deck;
  startUpMs: number;
  livenessMs: number;
  drainBoundMs: number;
  /** What is dealt out in so many minutes; a run of another length gets more or less of it. */
  deck: Deck;
  mix: Mix;
  sometimes: string[];
}

const MIX: Mix = {
  ok: 60,
  throw: 10,
  relapse: 4,
  slow: 4,
  crash: 2,
  memory: 0.5,
  hang: 0.5,
  snooze: 3,
  narrow: 8,
  'retry-after': 3,
  'give-up': 2,
};

/** What hits the servers while they start, from the first moment on. */
const START_UP: Deck = {
  'worker-kill': 2,
  'api-kill': 1,
  'scheduler-kill': 1,
  'server-worker-kill': 2,
  'worker-freeze': 1,
  'postmaster-kill': 2,
  'first-contact-refused': 2,
  'link-reset': 1,
};

const ALWAYS = [
  'a server was killed while it started',
  'a server lost its worker process while it started',
  'the database was killed while a server started',
  'a stale outcome was refused',
  'a job was rescued',
  'a worker fenced itself',
  'a child was killed',
  'a dead letter',
  'a running job was cancelled',
  'an enqueue of unknown result had been stored',
  'an enqueue was sent again and made no second job',
  'the answer to an outcome was cut off',
  'the answer to an enqueue was cut off',
  'work was found without a hint',
  'as many ran as a limit lets',
];

const TIMES = {
  restMs: 60,
  backlogMax: 500,
  slotsPerWorker: 5,
  clients: 6,
  schedules: 3,
  redis: false,
  server: true,
  startUp: START_UP,
};

const smoke: Profile = {
  ...TIMES,
  name: 'smoke',
  minutes: 1,
  startUpMs: 5_000,
  livenessMs: 5_000,
  drainBoundMs: 30_000,
  mix: MIX,
  sometimes: ALWAYS,
  deck: {
    'worker-kill': 2,
    'worker-freeze': 1,
    'child-kill': 1,
    'api-kill': 1,
    'scheduler-kill': 1,
    'postmaster-kill': 2,
    'backend-kill': 1,
    'success-stall': 1,
    'link-blackhole': 1,
    'listen-blackhole': 1,
    'worker-cut': 2,
    'api-cut': 2,
    'door-cut': 1,
    'clock-jump': 1,
    'connections-terminated': 1,
  },
};

const standard: Profile = {
  ...TIMES,
  name: 'standard',
  schedules: 20,
  minutes: 13,
  startUpMs: 8_000,
  livenessMs: 20_000,
  drainBoundMs: 60_000,
  mix: { ...MIX, poison: 0.1, cold: 3 },
  sometimes: [
    ...ALWAYS,
    'a claim whose answer was lost was given back',
    'a job ran out of time',
    'a job was interrupted by a stop',
    'a job that kills its workers ended',
    'the database was killed with jobs just acknowledged',
  ],
  deck: {
    'worker-kill': 12,
    'api-kill': 6,
    'scheduler-kill': 5,
    'start-kill': 3,
    'server-worker-kill': 4,
    'worker-freeze': 6,
    'api-freeze': 3,
    'scheduler-freeze': 3,
    'worker-stop': 5,
    'child-kill': 6,
    'child-freeze': 4,
    'watchdog-kill': 4,
    'everything-kill': 3,
    'postmaster-kill': 24,
    'postgres-immediate': 4,
    'postgres-fast': 4,
    'backend-kill': 6,
    'postgres-freeze': 3,
    'disk-full': 3,
    'link-delay': 4,
    'link-throttle': 3,
    'link-blackhole': 6,
    'link-reset': 5,
    'link-refuse': 5,
    'success-stall': 5,
    'outcome-stall': 4,
    'progress-stall': 2,
    'link-hiccup': 5,
    'listen-blackhole': 4,
    'door-blackhole': 3,
    'door-reset': 3,
    'worker-cut': 10,
    'lease-cut': 4,
    'api-cut': 8,
    'cancel-cut': 4,
    'reaper-cut': 4,
    'cron-cut': 4,
    'door-cut': 4,
    'connections-terminated': 5,
    'connections-exhausted': 3,
    'snapshot-held': 2,
    'clock-jump': 6,
    'files-exhausted': 3,
  },
};

const redis: Profile = {
  ...TIMES,
  name: 'redis',
  redis: true,
  minutes: 5,
  startUpMs: 10_000,
  server: false,
  startUp: { 'worker-kill': 2, 'scheduler-kill': 1, 'redis-kill': 1, 'postmaster-kill': 1 },
  livenessMs: 8_000,
  // Redis may remember a dead worker for half a minute.
  drainBoundMs: 90_000,
  mix: { ...MIX, long: 1 },
  sometimes: ['a job was rescued', 'a worker fenced itself', 'a stale outcome was refused'],
  deck: {
    'redis-kill': 5,
    'redis-flush': 6,
    'redis-freeze': 5,
    'redis-refuse': 4,
    'worker-kill': 5,
    'worker-freeze': 4,
    'scheduler-kill': 2,
    'link-blackhole': 4,
    'success-stall': 3,
    'outcome-stall': 2,
    'worker-cut': 3,
    'postmaster-kill': 4,
    'postgres-freeze': 1,
    'clock-jump': 2,
  },
};

const torture: Profile = {
  ...TIMES,
  name: 'torture',
  minutes: 10,
  startUpMs: 5_000,
  startUp: { 'everything-kill': 1 },
  livenessMs: 10_000,
  drainBoundMs: 60_000,
  mix: MIX,
  sometimes: ['a job was rescued', 'an enqueue was sent again and made no second job'],
  deck: { 'everything-kill': 55 },
};

/** A short run around one mistake in the product, with the faults that bring it to light. */
export function mutantProfile(deck: Deck, mix: Mix, withLiveness: boolean): Profile {
  return {
    ...TIMES,
    name: 'mutant',
    // Whatever is rescued should be claimed at once, and be at work when a late write arrives.
    backlogMax: 40,
    minutes: 0.5,
    startUpMs: 1_500,
    server: false,
    startUp: {},
    livenessMs: withLiveness ? 4_000 : 0,
    drainBoundMs: 25_000,
    mix: { ...MIX, poison: 0.5, ...mix },
    sometimes: [],
    deck,
  };
}

const PROFILES: readonly Profile[] = [smoke, standard, redis, torture];

export function profileOf(name: string): Profile {
  const found = PROFILES.find((profile) => profile.name === name);
  if (found) return found;
  const names = PROFILES.map((profile) => profile.name);
  throw new Error(`${unknownName('profile', name, names)} (${names.join(', ')})`);
}
