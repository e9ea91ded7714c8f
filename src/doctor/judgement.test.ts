import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeAlerts } from './alerts.ts';
import { judgeSigning, judgeStorage, type SigningFacts, type StorageFacts } from './artifacts.ts';
import { type Check, refused } from './check.ts';
import { judgeClock, skewMs } from './clock.ts';
import { judgeDatabase, type Reach } from './database.ts';
import { type DefinitionFacts, judgeDefinitions } from './definitions.ts';
import { judgeDurability } from './durability.ts';
import { judgeEncryption } from './encryption.ts';
import { type EscapeFacts, judgeEscapes } from './escapes.ts';
import { judgeFolder } from './folder.ts';
import { judgeIsolation } from './isolation.ts';
import { judgeMemoryLimits } from './memory-limits.ts';
import { judgeMigrations, type MigrationFacts } from './migrations.ts';
import { judgeNode, NODE_WANTED } from './node.ts';
import { judgePermissions, type PermissionFacts } from './permissions.ts';
import { judgePort, type PortFacts } from './port.ts';
import { judgePostgresVersion } from './postgres-version.ts';
import { type BrokerFacts, judgeBrokers } from './brokers.ts';
import { judgeRedis, type RedisFacts } from './redis.ts';
import { judgeRunnerUser } from './runner-user.ts';
import { judgeSessionSettings } from './session-settings.ts';
import { judgeSignIn, type SignInFacts } from './sign-in.ts';

/** A row of a table: the status, and a part of the words that a person gets to read. */
type Expected = [status: Check['status'], words: string];

function expectCheck({ status, detail, fix }: Check, [wanted, words]: Expected): void {
  expect({ status, words: `${detail} → ${fix}` }).toEqual({
    status: wanted,
    words: expect.stringContaining(words),
  });
  // One line each, and something to do unless all is well.
  expect(fix === null).toBe(status === 'ok');
  expect(`${detail}${fix}`).not.toContain('\n');
}

test.each<[StorageFacts, Expected]>([
  [{ state: 'works', where: 's3://code/' }, ['ok', 's3://code/, written, read and deleted']],
  [{ state: 'new', where: '/data/artifacts' }, ['ok', 'created by the first upload']],
  [
    { state: 'fails', where: 's3://code/', step: 'write', reason: 'AccessDenied' },
    ['problem', 'cannot write s3://code/: AccessDenied → correct LONGSHORE_ARTIFACTS'],
  ],
])('artifacts: %j', (facts, expected) => expectCheck(judgeStorage(facts), expected));

test.each<[SigningFacts, Expected]>([
  [{ state: 'none' }, ['ok', 'needs no signature']],
  [{ state: 'keys', keyIds: ['a', 'b'] }, ['ok', 'must be signed by a or b']],
  [{ state: 'wrong', reason: 'no key' }, ['problem', 'no key → correct LONGSHORE_ARTIFACT_KEYS']],
])('artifact-keys: %j', (facts, expected) => expectCheck(judgeSigning(facts), expected));

test.each<[EscapeFacts, Expected]>([
  [
    { hasUsers: true, attempts: [{ escape: 'setuid', result: 'held', detail: 'x' }] },
    ['ok', '1 of 1 escapes of a probe job were blocked'],
  ],
  [
    {
      hasUsers: true,
      attempts: [
        { escape: 'setuid', result: 'held', detail: 'x' },
        { escape: 'first-key', result: 'untried', detail: 'no server' },
      ],
    },
    ['ok', '1 of 1 escapes of a probe job were blocked; not tested: first-key (no server)'],
  ],
  [
    { hasUsers: true, attempts: [{ escape: 'code', result: 'escaped', detail: 'a.ts' }] },
    ['problem', 'a job can: change the code of the jobs after it → find the cause (code: a.ts)'],
  ],
  [
    { hasUsers: false, attempts: [{ escape: 'worker-signal', result: 'escaped', detail: 'x' }] },
    ['warning', 'a job can: end its worker → run the worker as root'],
  ],
])('escapes %j', (facts, expected) => expectCheck(judgeEscapes(facts), expected));

describe('node', () => {
  test.each<[string, Expected]>([
    ['24.21.0', ['ok', '24.21.0']],
    ['22.18.0', ['ok', '22.18.0']],
    ['23.0.0', ['ok', '23.0.0']],
    ['22.17.9', ['problem', 'install Node 22.18 or newer']],
    ['20.99.0', ['problem', '20.99.0 is too old']],
  ])('%s', (version, expected) => expectCheck(judgeNode(version), expected));

  test('asks for what package.json asks for', () => {
    const file = new URL('../../package.json', import.meta.url);
    const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${NODE_WANTED.major}.${NODE_WANTED.minor}`);
  });
});

describe('database', () => {
  const where = 'postgres://jobs@db/jobs';
  const folder = '.longshore/pg';
  const unreachable = (code: string | null, reason = 'it is so'): Reach => {
    return { state: 'unreachable', where, code, reason };
  };

  test.each<[Reach, Expected]>([
    [{ state: 'reached', where }, ['ok', where]],
    [{ state: 'absent', folder }, ['ok', 'created by the first "npx longshore start"']],
    [{ state: 'stopped', folder }, ['ok', 'not running, starts with "npx longshore start"']],
    [{ state: 'silent', folder, pid: 7 }, ['warning', 'process 7 runs it, but does not respond']],
    [{ state: 'refused', message: 'a: b.' }, ['problem', 'a → b']],
    [unreachable('ECONNREFUSED'), ['problem', 'is unreachable: it is so → start PostgreSQL']],
    [unreachable('ENOTFOUND'), ['problem', 'correct the host']],
    [unreachable('28P01'), ['problem', 'correct the user and password']],
    [unreachable('28000'), ['problem', 'correct the user and password']],
    [unreachable('3D000'), ['problem', 'create the database']],
    [unreachable('53300'), ['problem', 'raise max_connections']],
    [unreachable('57P03'), ['problem', 'check again in a moment']],
    [unreachable('08P01', 'unsupported startup parameter: options'), ['problem', 'POOLER=trans']],
    [unreachable(null), ['problem', 'check DATABASE_URL']],
  ])('%j', (reach, expected) => expectCheck(judgeDatabase(reach), expected));
});

test.each<[string, Expected]>([
  ['15.0', ['ok', '15.0']],
  ['18beta2', ['ok', '18beta2']],
  ['14.19', ['problem', '14.19 is too old → upgrade to PostgreSQL 15']],
  ['9.6.24', ['problem', 'too old']],
])('postgres version %s', (version, expected) => {
  expectCheck(judgePostgresVersion(version), expected);
});

test.each<[boolean, 'none' | 'transaction', Expected]>([
  [true, 'none', ['ok', 'active']],
  [true, 'transaction', ['ok', 'active']],
  [false, 'none', ['problem', 'set LONGSHORE_POOLER=transaction']],
  [false, 'transaction', ['warning', 'the role "jobs" lacks the settings']],
])('session settings: tuned %s, pooler %s', (tuned, pooler, expected) => {
  expectCheck(judgeSessionSettings({ tuned, pooler, role: 'jobs' }), expected);
});

test.each<[string, string, string, Expected]>([
  ['on', 'on', 'on', ['ok', 'fsync on, full_page_writes on, synchronous_commit on']],
  ['on', 'on', 'local', ['ok', 'synchronous_commit local']],
  ['on', 'on', 'remote_apply', ['ok', 'synchronous_commit remote_apply']],
  ['off', 'on', 'on', ['problem', 'fsync off: a crash of the server may lose acknowledged jobs']],
  ['on', 'off', 'on', ['problem', 'enable full_page_writes']],
  ['off', 'off', 'off', ['problem', 'enable fsync, full_page_writes, synchronous_commit']],
])(
  'durability: fsync %s, full_page_writes %s, synchronous_commit %s',
  (fsync, fullPageWrites, synchronousCommit, expected) => {
    expectCheck(judgeDurability({ fsync, fullPageWrites, synchronousCommit }), expected);
  },
);

describe('permissions', () => {
  const good: PermissionFacts = {
    role: 'jobs',
    database: 'j"s',
    readOnly: false,
    schemaExists: true,
    mayCreate: true,
    foreignOwner: null,
  };

  test.each<[Partial<PermissionFacts>, Expected]>([
    [{}, ['ok', 'the role "jobs" may create in its schema']],
    [{ schemaExists: false }, ['ok', 'may create in j"s']],
    [{ readOnly: true, mayCreate: false }, ['problem', 'point DATABASE_URL to the primary']],
    [{ mayCreate: false }, ['problem', 'GRANT USAGE, CREATE ON SCHEMA longshore TO "jobs"']],
    [
      { schemaExists: false, mayCreate: false },
      [
        'problem',
        'may not create the schema longshore → run as an owner: GRANT CREATE ON DATABASE',
      ],
    ],
    [{ schemaExists: false, mayCreate: false }, ['problem', 'ON DATABASE "j""s" TO "jobs"']],
    [{ foreignOwner: 'old' }, ['problem', 'GRANT "old" TO "jobs"']],
  ])('%j', (changes, expected) => {
    expectCheck(judgePermissions({ ...good, ...changes }), expected);
  });
});

describe('migrations', () => {
  const good: MigrationFacts = { pending: [], last: '0004_d', newer: [], refusal: null };

  test.each<[Partial<MigrationFacts>, Expected]>([
    [{}, ['ok', 'up to date (0004_d)']],
    [{ newer: ['0005_e'] }, ['ok', 'a newer Longshore has applied 0005_e']],
    [{ pending: ['0003_c', '0004_d'] }, ['warning', '2 pending: 0003_c, 0004_d → run "npx longsh']],
    [{ refusal: 'too new: install it', pending: ['a'] }, ['problem', 'too new → install it']],
  ])('%j', (changes, expected) => expectCheck(judgeMigrations({ ...good, ...changes }), expected));
});

describe('clock', () => {
  test.each([
    ['inside the call', { beforeMs: 1_000, databaseMs: 1_500, afterMs: 2_000 }, 0],
    ['ahead', { beforeMs: 1_000, databaseMs: 2_100, afterMs: 2_000 }, 100],
    ['behind', { beforeMs: 1_000, databaseMs: 700, afterMs: 2_000 }, -300],
  ])('skew of a database that is %s', (_, facts, skew) => expect(skewMs(facts)).toBe(skew));

  test.each<[number, Expected]>([
    [10_002, ['ok', 'at most 8 ms off']],
    [11_010, ['ok', 'at most 1010 ms']],
    [9_000, ['ok', 'at most 1010 ms']],
    [11_011, ['warning', '1.0 s ahead of this machine']],
    [13_510, ['warning', "3.5 s ahead of this machine's"]],
    [8_999, ['warning', '1.0 s behind this machine']],
    [-50_000, ['warning', '→ synchronise']],
  ])('a database at %i of a call from 10,000 to 10,010', (databaseMs, expected) => {
    expectCheck(judgeClock({ beforeMs: 10_000, databaseMs, afterMs: 10_010 }), expected);
  });

  test('a slow answer proves no skew', () => {
    const facts = { beforeMs: 10_000, databaseMs: 14_000, afterMs: 20_000 };
    expectCheck(judgeClock(facts), ['ok', 'at most 6000 ms']);
  });
});

test.each<[string[], number, Expected]>([
  [[], 0, ['ok', 'none firing']],
  [['a job is old'], 1, ['warning', '1 firing: a job is old → list them']],
  [['a', 'b'], 5, ['warning', '5 firing: a; b; 3 more']],
])('alerts %j of %i', (messages, total, expected) => {
  expectCheck(judgeAlerts({ messages, total }), expected);
});

test.each<[RedisFacts, Expected]>([
  [{ state: 'answers', where: 'redis://r' }, ['ok', 'redis://r']],
  [{ state: 'silent', where: 'redis://r', reason: 'no' }, ['warning', 'does not respond: no']],
  [{ state: 'refused', message: 'no package: install it' }, ['problem', 'no package → install']],
])('redis %j', (facts, expected) => expectCheck(judgeRedis(facts), expected));

test.each<[BrokerFacts[], Expected]>([
  [[{ name: 'rabbit', trouble: null }], ['ok', 'rabbit']],
  [
    [
      { name: 'rabbit', trouble: null },
      { name: 'other', trouble: 'ECONNREFUSED' },
    ],
    ['warning', 'other: ECONNREFUSED'],
  ],
])('brokers %j', (facts, expected) => expectCheck(judgeBrokers(facts), expected));

test.each<[Partial<SignInFacts>, Expected]>([
  [{}, ['ok', 'https://id knows this client']],
  [{ knowsClient: null }, ['ok', 'must know the redirect URI https://jobs.example.com/back']],
  [{ knowsClient: false }, ['warning', 'register this URI at the provider']],
  [{ trouble: 'no answer.' }, ['warning', 'https://id: no answer → correct LONGSHORE_OIDC_ISSUER']],
  [{ servesPublicHost: false }, ['problem', 'add jobs.example.com to LONGSHORE_ALLOWED_HOSTS']],
  [{ isEncrypted: false }, ['warning', 'use https in LONGSHORE_PUBLIC_URL']],
])('sign-in %j', (facts, expected) => {
  const fine = { trouble: null, knowsClient: true, servesPublicHost: true, isEncrypted: true };
  const redirectUri = 'https://jobs.example.com/back';
  expectCheck(judgeSignIn({ issuer: 'https://id', redirectUri, ...fine, ...facts }), expected);
});

test.each<[string | null, number | null, Expected]>([
  [null, null, ['ok', '/x']],
  [null, 2 ** 30, ['ok', '/x, 1.0 GB free']],
  [null, 2 ** 30 - 1, ['warning', 'free disk space, or set LONGSHORE_DATA']],
  [null, 2 ** 26, ['warning', '0.1 GB free']],
  [null, 2 ** 26 - 1, ['problem', 'free disk space']],
  ['EROFS', null, ['problem', '/x is not writable (EROFS)']],
])('a folder: trouble %s, %s bytes free', (trouble, freeBytes, expected) => {
  expectCheck(judgeFolder('data-folder', { path: '/x', trouble, freeBytes }), expected);
  expect(judgeFolder('temp-folder', { path: '/x', trouble, freeBytes }).fix ?? 'TMPDIR').toMatch(
    'TMPDIR',
  );
});

test.each<['cgroup v1' | 'cgroup v2' | 'rlimit and RSS watch', Expected]>([
  ['cgroup v2', ['ok', 'cgroup v2: ']],
  ['cgroup v1', ['ok', 'cgroup v1: ']],
  ['rlimit and RSS watch', ['warning', 'rlimit and RSS watch: ']],
])('memory limits by %s', (method, expected) => expectCheck(judgeMemoryLimits(method), expected));

test.each<[boolean, boolean, Expected]>([
  [true, true, ['ok', 'found and killed']],
  [true, false, ['warning', '/proc']],
  [false, false, ['warning', 'no /bin/sh']],
])('isolation: shell %s, found %s', (shell, found, expected) => {
  expectCheck(judgeIsolation({ shell, found }), expected);
});

test.each<[string, number | null, boolean | null, string | null, Expected]>([
  ['auto', 1_000, false, null, ['ok', 'jobs run as the user of the worker (1000)']],
  ['auto', null, false, null, ['ok', 'jobs run as the user of the worker']],
  ['none', 0, false, null, ['warning', 'jobs run as root']],
  ['auto', 0, true, null, ['ok', 'each job process has its own user']],
  ['auto', 0, false, 'jobs run as root, because', ['problem', 'jobs run as root, because']],
  ['auto', 0, null, null, ['ok', 'each job process gets its own user']],
  ['70000-70999', 1_000, null, null, ['problem', 'unset LONGSHORE_RUNNER_UIDS']],
])('runner user: %s, worker %s', (setting, ownUid, hasUsers, why, expected) => {
  expectCheck(judgeRunnerUser({ setting, ownUid, hasUsers, warning: why }), expected);
});

test.each<[string[], Expected]>([
  [[], ['ok', 'off: params and results are stored unencrypted']],
  [['a'], ['ok', 'encrypted with key a →']],
  [
    ['b', 'a'],
    ['ok', 'encrypted with key b; also decrypted by a'],
  ],
])('encryption with %j', (ids, expected) => expectCheck(judgeEncryption(ids), expected));

describe('definitions', () => {
  const loaded = (count: number, ...problems: string[]): DefinitionFacts => {
    return { path: './jobs', state: 'loaded', count, problems };
  };

  test.each<[DefinitionFacts, Expected]>([
    [loaded(3), ['ok', '3 in ./jobs']],
    [loaded(0), ['warning', 'none in ./jobs → put a file that calls defineJob there']],
    [loaded(3, 'a.ts: bad', 'b.ts: worse'), ['problem', 'a.ts: bad; b.ts: worse → fix']],
    [{ path: './jobs', state: 'missing' }, ['warning', './jobs: no such file or folder']],
    [{ path: './jobs', state: 'failed', reason: 'it died' }, ['problem', 'loaded: it died']],
  ])('%j', (facts, expected) => expectCheck(judgeDefinitions(facts), expected));
});

describe('port', () => {
  const where = '127.0.0.1:4400';

  test.each<[PortFacts, Expected]>([
    [{ state: 'any' }, ['ok', 'any free port']],
    [{ state: 'free', where }, ['ok', '127.0.0.1:4400 is free']],
    [{ state: 'longshore', where, version: '1.2', ready: true }, ['ok', 'Longshore 1.2 responds']],
    [{ state: 'longshore', where, version: null, ready: false }, ['warning', 'but is not ready']],
    [{ state: 'taken', where }, ['problem', 'another program listens on 127.0.0.1:4400']],
    [{ state: 'forbidden', where, code: 'EACCES' }, ['problem', 'a port above 1023']],
    [{ state: 'forbidden', where, code: 'EADDRNOTAVAIL' }, ['problem', 'set LONGSHORE_HOST']],
    [{ state: 'refused', reason: 'not loopback' }, ['problem', 'not loopback → create a key']],
  ])('%j', (facts, expected) => expectCheck(judgePort(facts), expected));
});

test.each([
  ['/a: b/pg is broken: mend it, or move it.', '/a: b/pg is broken', 'mend it, or move it'],
  ['something odd happened', 'something odd happened', 'fix this and run the check again'],
])('the refusal "%s" is split into problem and fix', (message, detail, fix) => {
  expect(refused('database', message)).toMatchObject({ status: 'problem', detail, fix });
});
