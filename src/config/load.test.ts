import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from './error.ts';
import { loadConfig, type Sources } from './load.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longshore-config-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function load(sources: Sources = {}) {
  return loadConfig({ env: {}, directory, ...sources });
}

function file(content: unknown, mode = 0o644): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const path = join(directory, 'longshore.config.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
}

function problems(sources: Sources): readonly string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('sources', () => {
  test('nothing is needed: every setting has a default, and the result is frozen', () => {
    const { config, origins } = load();
    expect(config).toEqual({
      databaseUrl: null,
      pooler: 'none',
      redisUrl: null,
      redisLeaseMs: 120_000,
      host: '127.0.0.1',
      port: 4_400,
      allowedHosts: null,
      trustedProxies: null,
      metricsHost: '127.0.0.1',
      metricsPort: null,
      environment: null,
      environmentColor: 'blue',
      keyRequestsPerSecond: 1_000,
      addressRequestsPerSecond: 1_000,
      tenantQueuedMax: 0,
      tenantQueuedBytesMax: 0,
      tenantSchedulesMax: 0,
      tenantWebhooksMax: 100,
      jobs: './jobs',
      data: './.longshore',
      deployments: 'auto',
      artifacts: './.longshore/artifacts',
      artifactCache: null,
      artifactKeys: null,
      reports: null,
      reportSecret: null,
      tenantDeploys: 'off',
      concurrency: 8,
      workers: '1',
      leaseMs: 30_000,
      heartbeatMs: 10_000,
      cancelGraceMs: 5_000,
      drainMs: 30_000,
      pollMs: 1_000,
      ageingMs: 0,
      logMaxBytes: 10_485_760,
      streamMaxBytes: 4_194_304,
      largeValuesMaxBytes: 0,
      runnerMaxJobs: 1_000,
      runnerEnv: null,
      runnerUids: 'auto',
      runnerMemoryMb: 512,
      inlineJobs: 'own-user',
      unservedAfterMs: 60_000,
      unregistered: 'accept',
      webhookAllow: null,
      brokers: null,
      alerts: null,
      smtpUrl: null,
      alertFrom: null,
      publicUrl: null,
      oidcIssuer: null,
      oidcClientId: null,
      oidcClientSecret: null,
      oidcGroups: null,
      oidcGroupsClaim: 'groups',
      oidcScopes: 'openid profile email',
      encryptionKeys: null,
      retentionDays: 7,
      deadLetterDays: 0,
      auditDays: 0,
      usageDays: 400,
      bulkDays: 30,
      idempotencyDays: 0,
      shards: 1,
      logLevel: 'info',
      logFormat: 'json',
      logJobs: 'failures',
      tracing: null,
      url: 'http://127.0.0.1:4400',
      apiKey: null,
      tenant: null,
    });
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']));
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('flags win over the environment, that over the file, that over the default', () => {
    file({ port: 1, concurrency: 2, pollMs: 300 });
    const env = { LONGSHORE_PORT: '10', LONGSHORE_CONCURRENCY: '20' };
    const { config, origins } = load({ flags: { port: '100' }, env });
    expect(config).toMatchObject({ port: 100, concurrency: 20, pollMs: 300, drainMs: 30_000 });
    expect(origins).toMatchObject({
      port: 'flag --port',
      concurrency: 'env LONGSHORE_CONCURRENCY',
      pollMs: 'file longshore.config.json',
      drainMs: 'default',
    });
  });

  test('an alias counts, and the own name wins over it', () => {
    const env = { MAX_CONCURRENT_EXECUTIONS: '3', CANCEL_GRACE_MS: '70' };
    const { config, origins } = load({ env });
    expect(config).toMatchObject({ concurrency: 3, cancelGraceMs: 70 });
    expect(origins.concurrency).toBe('env MAX_CONCURRENT_EXECUTIONS');
    expect(load({ env: { ...env, LONGSHORE_CONCURRENCY: '4' } }).config.concurrency).toBe(4);
  });

  test('an empty variable counts as not set', () => {
    expect(load({ env: { LONGSHORE_PORT: '', DATABASE_URL: '' } }).config).toMatchObject({
      port: 4_400,
      databaseUrl: null,
    });
  });

  test('the heartbeat follows the lease, and the URL follows host and port', () => {
    const { config } = load({ flags: { leaseMs: '1000', host: '::1', port: '5000' } });
    expect(config).toMatchObject({ heartbeatMs: 333, url: 'http://[::1]:5000' });
    expect(load({ flags: { port: '0' } }).config.url).toBe('http://127.0.0.1:4400');
    expect(load({ flags: { url: 'https://jobs.example/' } }).config.url).toBe(
      'https://jobs.example',
    );
  });
});

describe('secrets', () => {
  test('are read from the file that the _FILE variant names, without its last newline', () => {
    writeFileSync(join(directory, 'url'), 'postgres://u:p@db/jobs\n');
    const { config, origins } = load({ env: { DATABASE_URL_FILE: 'url' } });
    expect(config.databaseUrl).toBe('postgres://u:p@db/jobs');
    expect(origins.databaseUrl).toBe('env DATABASE_URL_FILE');
    writeFileSync(join(directory, 'key'), 'lsk_1');
    expect(load({ env: { LONGSHORE_API_KEY_FILE: 'key' } }).config.apiKey).toBe('lsk_1');
  });

  test('a value and its file variant at once, or a file that is not there, are refused', () => {
    const both = { DATABASE_URL: 'postgres://db/jobs', DATABASE_URL_FILE: 'url' };
    expect(problems({ env: both })).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set: keep one of them',
    ]);
    expect(problems({ env: { LONGSHORE_API_KEY_FILE: 'nowhere' } })).toEqual([
      expect.stringContaining('LONGSHORE_API_KEY_FILE: cannot be read: ENOENT'),
    ]);
  });

  test('keys to encrypt with are refused by their id, and not repeated', () => {
    expect(problems({ env: { LONGSHORE_ENCRYPTION_KEYS: 'a:c2hvcnQ=' } })).toEqual([
      'LONGSHORE_ENCRYPTION_KEYS must be ids and keys of 32 bytes in base64, such as ' +
        '"2026:<key>,2025:<key>": the key "a" is not 32 bytes in base64',
    ]);
  });

  test('a refused secret is not repeated in the problem', () => {
    expect(problems({ env: { DATABASE_URL: 'mysql://u:secret@db' } })).toEqual([
      'DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
    ]);
  });
});

describe('refusals', () => {
  test('are reported together', () => {
    file({ jbos: './jobs', pollMs: true, logLevel: 'wran' });
    const env = { LONGSHORE_PROT: '1', LONGSHORE_SHARDS: '2000' };
    expect(problems({ env, flags: { concurrency: '0' } })).toEqual([
      'unknown variable "LONGSHORE_PROT": did you mean "LONGSHORE_PORT"?',
      'longshore.config.json: unknown key "jbos": did you mean "jobs"?',
      'longshore.config.json: "pollMs" must be a string or a number',
      '--concurrency must be a whole number from 1 to 1000, got "0"',
      'LONGSHORE_SHARDS must be a whole number from 1 to 1024, got "2000"',
      'longshore.config.json: "logLevel" must be one of trace, debug, info, warn, error, silent, ' +
        'got "wran": did you mean "warn"?',
    ]);
  });

  test.each(['-1', '1.5', '1e3', '0x10', 'ten', '99999', ' '])('port %j', (port) => {
    expect(problems({ flags: { port } })).toHaveLength(1);
  });

  test.each(['ftp://x', 'http://', 'example.com', 'http://a b'])('url %j', (url) => {
    expect(problems({ flags: { url } })).toHaveLength(1);
  });

  test.each(['10.1.0.0/16', '10.0.0.0/8, fd00::/8'])('networks %j', (networks) => {
    const { config } = load({ env: { LONGSHORE_WEBHOOK_ALLOW: networks } });
    expect(config.webhookAllow).toBe(networks.replaceAll(' ', ''));
  });

  test.each(['10.0.0.1', '10.0.0.0/33', 'fd00::/129', 'example.com/8', '10.0.0.0/8,', '0x7f.1/8'])(
    'no networks %j',
    (networks) => {
      expect(problems({ env: { LONGSHORE_WEBHOOK_ALLOW: networks } })).toEqual([
        'LONGSHORE_WEBHOOK_ALLOW must be networks separated by commas, such as ' +
          `"10.1.0.0/16,fd00::/8", got ${JSON.stringify(networks)}`,
      ]);
    },
  );

  test.each(['TEAM', 'TEAM, AWS_*', '_x', 'PG*'])('variables for jobs: %j', (names) => {
    const { config } = load({ env: { LONGSHORE_RUNNER_ENV: names } });
    expect(config.runnerEnv).toBe(names.replaceAll(' ', ''));
  });

  test.each(['A B', 'A,,B', '1A', 'A=1', 'A*B'])('no variables for jobs: %j', (names) => {
    expect(problems({ env: { LONGSHORE_RUNNER_ENV: names } })).toEqual([
      'LONGSHORE_RUNNER_ENV must be names of variables, separated by commas, ' +
        `such as "TEAM,AWS_*", got ${JSON.stringify(names)}`,
    ]);
  });

  test.each(['DATABASE_URL', 'LONGSHORE_API_KEY', 'DATA*', 'LONG*', 'LONGSHORE_*', 'D*'])(
    'secrets for jobs: %j',
    (name) => {
      const [problem] = problems({ env: { LONGSHORE_RUNNER_ENV: `TEAM,${name}` } });
      expect(problem).toContain(`${name} is or may match a secret of Longshore`);
    },
  );

  describe('sign-in by OpenID', () => {
    const SSO = {
      LONGSHORE_OIDC_ISSUER: 'https://id.example.com/app/',
      LONGSHORE_OIDC_CLIENT_ID: 'longshore',
      LONGSHORE_OIDC_CLIENT_SECRET: 'canary',
      LONGSHORE_OIDC_GROUPS: 'ops=admin',
      LONGSHORE_PUBLIC_URL: 'https://jobs.example.com/',
    };

    test('keeps the issuer as it is written', () => {
      const { config } = load({ env: SSO });
      const [oidcIssuer, publicUrl] = ['https://id.example.com/app/', 'https://jobs.example.com'];
      expect(config).toMatchObject({ oidcIssuer, publicUrl });
    });

    test.each(Object.keys(SSO))('needs %s', (name) => {
      expect(problems({ env: { ...SSO, [name]: '' } })).toEqual([
        `sign-in by OpenID needs also: ${name}`,
      ]);
    });

    test.each([
      [{ LONGSHORE_OIDC_ISSUER: 'http://id.example.com' }, 'must be https'],
      [{ LONGSHORE_OIDC_SCOPES: 'profile email' }, 'must contain openid'],
      [{ LONGSHORE_OIDC_GROUPS: 'ops=admim' }, 'did you mean "admin"?'],
    ])('refuses %j', (env, words) => {
      expect(problems({ env: { ...SSO, ...env } })[0]).toContain(words);
    });

    test('may use http on loopback', () => {
      const env = { ...SSO, LONGSHORE_OIDC_ISSUER: 'http://localhost:9000' };
      expect(problems({ env })).toEqual([]);
    });
  });

  test('a heartbeat longer than half the lease says why it cannot work', () => {
    expect(
      problems({ env: { LONGSHORE_HEARTBEAT_MS: '600', LONGSHORE_LEASE_MS: '1000' } }),
    ).toEqual([
      expect.stringContaining('must be at most half of LONGSHORE_LEASE_MS (1000): otherwise'),
    ]);
    expect(
      problems({ env: { LONGSHORE_HEARTBEAT_MS: '500', LONGSHORE_LEASE_MS: '1000' } }),
    ).toEqual([]);
  });

  test('a lease with Redis that is hardly longer than the one without', () => {
    const env = { LONGSHORE_REDIS_URL: 'redis://r:6379', LONGSHORE_REDIS_LEASE_MS: '59999' };
    expect(problems({ env })).toEqual([
      expect.stringContaining('must be at least twice LONGSHORE_LEASE_MS (30000)'),
    ]);
    expect(problems({ env: { ...env, LONGSHORE_REDIS_LEASE_MS: '60000' } })).toEqual([]);
    expect(problems({ env: { LONGSHORE_REDIS_LEASE_MS: '59999' } })).toEqual([]);
    expect(problems({ env: { LONGSHORE_AUDIT_DAYS: '29' } })).toEqual([
      expect.stringContaining('must be at least 30, or 0 for ever'),
    ]);
    expect(problems({ env: { LONGSHORE_AUDIT_DAYS: '30' } })).toEqual([]);
  });

  test('a file with a secret that other users may read', () => {
    const secret = { databaseUrl: 'postgres://u:p@db/jobs' };
    for (const mode of [0o644, 0o640, 0o604]) {
      file(secret, mode);
      expect(problems({})).toEqual([
        expect.stringContaining('contains a secret ("databaseUrl") and is readable by other users'),
      ]);
    }
    file(secret, 0o600);
    expect(problems({})).toEqual([]);
    file({ port: 4_500 }, 0o644);
    expect(problems({})).toEqual([]);
  });

  test('a file that is not JSON, or not an object', () => {
    file('{ "port": ');
    expect(problems({})).toEqual([expect.stringContaining('is not valid JSON')]);
    file('[]');
    expect(problems({})).toEqual(['longshore.config.json must contain one JSON object']);
  });

  test('a _FILE variant of what is no secret is unknown', () => {
    expect(problems({ env: { LONGSHORE_HOST_FILE: 'x' } })).toEqual([
      'unknown variable "LONGSHORE_HOST_FILE": did you mean "LONGSHORE_HOST"?',
    ]);
  });
});

test('a client does not mind what is wrong for the server, but does mind its own', () => {
  const env = { DATABASE_URL: 'mysql://db/other', LONGSHORE_LEASE_MS: '0' };
  expect(load({ env, reader: 'client' }).config.url).toBe('http://127.0.0.1:4400');
  const wrong = { LONGSHORE_PORT: 'x', LONGSHORE_URL: 'x', LONGSHORE_PROT: 'x' };
  expect(problems({ env: wrong, reader: 'client' })).toHaveLength(3);
});

describe('variables that are not ours to refuse', () => {
  test('what Longshore sets for the commands it runs', () => {
    expect(problems({ env: { LONGSHORE_JOB_ID: 'x', LONGSHORE_ATTEMPT: '1' } })).toEqual([]);
  });

  test('what Kubernetes sets for a Service of that name', () => {
    const env = {
      LONGSHORE_PORT: 'tcp://10.0.0.1:4400',
      LONGSHORE_PORT_4400_TCP_ADDR: '10.0.0.1',
      LONGSHORE_SERVICE_HOST: '10.0.0.1',
      LONGSHORE_API_SERVICE_PORT_HTTP: '4400',
      LONGSHORE_API_PORT: 'tcp://10.0.0.1:4400',
    };
    expect(load({ env }).config.port).toBe(4_400);
  });
});
