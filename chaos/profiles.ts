import { unknownName } from '../src/core/values/nearest.ts';
import { CALL_FAULTS } from './check/call-faults.ts';
import { DEPLOYED, MIX } from './load/mix.ts';
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
  /** How many of the three workers get their jobs over HTTP. */
  remotes: number;
  /** How late a call of a remote worker may arrive. */
  lateMs: number;
  /** Faults of the first moments, from the start of the servers on. If there are none, faults begin when all are up. */
  startUp: Deck;
  startUpMs: number;
  /** How many deployments are made at most, and how often something happens to them. */
  deploys: number;
  deployEveryMs: number;
  livenessMs: number;
  drainBoundMs: number;
  /** What is dealt out in so many minutes; a run of another length gets more or less of it. */
  deck: Deck;
  /** The children of one job that is there from the beginning. */
  fanOut: number;
  /** The jobs of one batch with callbacks that is filled from the beginning on. */
  batchJobs: number;
  mix: Mix;
  sometimes: string[];
}

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
  'a suspended job got its signal',
  'a signal was earlier than the wait',
  'a job went on after its sleep',
  'a job ran after its parents',
  'a job failed with its parent',
  'a job went on after its children',
  'a callback ran after its batch',
  'several jobs ran in one group',
];

/** A minute is too short to fill a limit of several jobs in every run. */
const LIMIT_WAS_FULL = 'as many ran as a limit lets';

const TIMES = {
  restMs: 60,
  backlogMax: 500,
  slotsPerWorker: 5,
  clients: 6,
  schedules: 3,
  redis: false,
  server: true,
  remotes: 0,
  lateMs: 10_000,
  startUp: START_UP,
  deploys: 0,
  deployEveryMs: 3_000,
  fanOut: 0,
  batchJobs: 0,
};

const DEPLOYS_SEEN = [
  'a job ran deployed code',
  'jobs of several deployments ran',
  'new jobs got an earlier deployment again',
];

/** What happens to the calls of remote workers. */
const CALLS: Deck = {
  'turn-lost': 3,
  'turn-cut': 6,
  'turn-half': 4,
  'turn-twice': 5,
  'turn-delay': 3,
  'turn-slow': 4,
  'turn-late': 6,
  'beat-lost': 2,
  'beat-cut': 3,
  'beat-half': 2,
  'beat-twice': 2,
  'beat-delay': 2,
  'beat-slow': 2,
  'beat-late': 3,
  'beats-lost': 3,
  'say-lost': 1,
  'say-cut': 2,
  'say-half': 1,
  'say-twice': 2,
  'say-delay': 1,
  'say-slow': 1,
  'say-late': 2,
};

/** All that they must have met. */
const CALLS_SEEN = [
  ...CALL_FAULTS.map(({ seen }) => seen),
  'an API was killed with calls of remote workers open',
  'a remote worker ran jobs',
];

const smoke: Profile = {
  ...TIMES,
  name: 'smoke',
  fanOut: 200,
  batchJobs: 200,
  remotes: 1,
  minutes: 1,
  startUpMs: 5_000,
  livenessMs: 5_000,
  drainBoundMs: 30_000,
  mix: MIX,
  sometimes: [
    ...ALWAYS,
    'the answer to a turn was lost',
    'a turn arrived twice',
    'the answer to a heartbeat was lost',
    'a remote worker ran jobs',
  ],
  deck: {
    'turn-cut': 2,
    'turn-half': 1,
    'turn-twice': 2,
    'turn-late': 1,
    'beat-cut': 1,
    'beat-twice': 1,
    'beats-lost': 1,
    'say-cut': 1,
    'worker-kill': 2,
    'worker-freeze': 1,
    'child-kill': 1,
    'api-kill': 2,
    'scheduler-kill': 1,
    'postmaster-kill': 2,
    'backend-kill': 1,
    'success-stall': 1,
    'link-blackhole': 1,
    'listen-blackhole': 1,
    'worker-cut': 2,
    'api-cut': 2,
    'client-cut': 1,
    'clock-jump': 1,
    'connections-terminated': 1,
  },
};

const standard: Profile = {
  ...TIMES,
  name: 'standard',
  fanOut: 10_000,
  batchJobs: 10_000,
  remotes: 1,
  lateMs: 90_000,
  schedules: 20,
  // The clients wait while the children of the fan-out are more than the backlog may be.
  minutes: 15,
  startUpMs: 8_000,
  livenessMs: 20_000,
  drainBoundMs: 60_000,
  deploys: 40,
  mix: { ...MIX, ...DEPLOYED, poison: 0.1, cold: 3 },
  sometimes: [
    ...ALWAYS,
    LIMIT_WAS_FULL,
    ...DEPLOYS_SEEN,
    'a deployment was retired',
    'a claim whose answer was lost was given back',
    'a batch failed with a job of it',
    'a batch was cancelled',
    'the large batch got all of its jobs',
    'the large fan-out got all of its children and their results',
    'a job with a permit waited for a signal',
    'a sleep was stored and its attempt was lost',
    'jobs of a batch were sent again and not stored again',
    'a job ran out of time',
    'a silent job was ended',
    'a job was interrupted by a stop',
    'a job that kills its workers ended',
    'the database was killed with jobs just acknowledged',
    ...CALLS_SEEN,
  ],
  deck: {
    ...CALLS,
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
    'client-blackhole': 3,
    'client-reset': 3,
    'worker-cut': 10,
    'lease-cut': 4,
    'api-cut': 8,
    'cancel-cut': 4,
    'reaper-cut': 4,
    'cron-cut': 4,
    'client-cut': 4,
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
  mix: { ...MIX, ...DEPLOYED },
  sometimes: ['a job was rescued', 'an enqueue was sent again and made no second job'],
  deploys: 6,
  deck: { 'everything-kill': 55 },
};

const remote: Profile = {
  ...TIMES,
  name: 'remote',
  remotes: 2,
  lateMs: 90_000,
  minutes: 3,
  startUpMs: 8_000,
  startUp: { 'worker-kill': 1, 'api-kill': 2, 'first-contact-refused': 2, 'postmaster-kill': 1 },
  livenessMs: 8_000,
  drainBoundMs: 60_000,
  // Jobs that report their progress.
  mix: { ...MIX, ...DEPLOYED, slow: 10 },
  deploys: 8,
  sometimes: [
    'a job was rescued',
    'a worker fenced itself',
    'a running job was cancelled',
    ...CALLS_SEEN,
  ],
  deck: {
    ...CALLS,
    'api-kill': 6,
    'api-freeze': 2,
    'worker-kill': 4,
    'worker-freeze': 3,
    'worker-stop': 3,
    'child-kill': 2,
    'watchdog-kill': 1,
    'link-blackhole': 5,
    'link-delay': 2,
    'link-reset': 5,
    'link-refuse': 2,
    'postmaster-kill': 3,
    'backend-kill': 1,
    'api-cut': 2,
    'clock-jump': 2,
    'connections-terminated': 2,
    'scheduler-kill': 2,
  },
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
    // A release that an API does not know must stay for longer than it may.
    deployEveryMs: 4_000,
    livenessMs: withLiveness ? 4_000 : 0,
    drainBoundMs: 25_000,
    mix: { ...MIX, poison: 0.5, ...mix },
    sometimes: [],
    deck,
  };
}

const PROFILES: readonly Profile[] = [smoke, standard, remote, redis, torture];

export function profileOf(name: string): Profile {
  const found = PROFILES.find((profile) => profile.name === name);
  if (found) return found;
  const names = PROFILES.map((profile) => profile.name);
  throw new Error(`${unknownName('profile', name, names)} (${names.join(', ')})`);
}
