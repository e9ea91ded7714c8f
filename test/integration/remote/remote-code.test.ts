import { createHash, randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FileStorage } from '../../../src/artifacts/file-storage.ts';
import { Deployer } from '../../../src/deployments/deployer.ts';
import { Uploads } from '../../../src/deployments/uploads.ts';
import type { ServedReply, TurnReply } from '../../../src/protocol/worker-protocol.ts';
import { createKey } from '../../../src/store/access/keys.ts';
import { createTenant } from '../../../src/store/access/tenants.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { apiOn } from '../../support/servers/remote.ts';

const BY = { name: 'test', address: null };
const database = databasePerTest();
let url: string;
let uploads: Uploads;
let deployer: Deployer;

beforeEach(async () => {
  for (const tenant of ['acme', 'rival']) await createTenant(database.db, BY, tenant);
  uploads = new Uploads(database.db, new FileStorage(await quickFolder('longshore-remote-code-')));
  deployer = new Deployer({ db: database.db, syncSchedules: async () => undefined });
  const api = await apiOn(database, { uploads, deployer });
  onTestFinished(async () => await api.close());
  url = api.url;
});

/** Deploys an archive with one file; the answer is its hash. */
async function deploy(tenant: string, ...keys: string[]): Promise<string> {
  const code = Buffer.from(`export const run = () => '${tenant} ${keys.join()}';`);
  const header = Buffer.alloc(512);
  new Header({ path: 'main.js', size: code.length, mode: 0o644, type: 'File' }).encode(header);
  const padding = Buffer.alloc(512 - (code.length % 512) + 1_024);
  const body = new PassThrough();
  body.end(gzipSync(Buffer.concat([header, code, padding])));
  const claims = { expected: null, signature: null };
  const { artifact } = await uploads.add(tenant, BY, body, claims);
  const definitions = keys.map((key) => ({ key, entrypoint: 'main:run' }));
  await deployer.deploy(tenant, BY, {
    artifactId: artifact.sha256,
    note: null,
    revision: null,
    promote: true,
    canaryPercent: null,
    manifest: { longshore: 1, runtime: 'node', definitions },
  });
  return artifact.sha256;
}

/** The calls of a worker with a key of its own. */
async function workerOf(tenant: string, definitions: string[] | null = null) {
  const wanted = { tenant, name: 'w', scopes: ['worker'] as const, definitions, expiresAt: null };
  const { key } = await createKey(database.db, BY, wanted);
  const id = randomUUID();
  const headers = { authorization: `Bearer ${key}` };
  const get = async (path: string) => await fetch(`${url}/v1/workers/${id}${path}`, { headers });
  const register = async (body: object) =>
    await fetch(`${url}/v1/workers/${id}`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ host: 'edge', definitions: [], ...body }),
    });
  const listed = async () => {
    const { deployments } = (await (await get('/deployments')).json()) as ServedReply;
    return deployments.map(({ sha256 }) => sha256);
  };
  const turn = async () => {
    const answer = await fetch(`${url}/v1/workers/${id}/turn`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ room: 1, waitMs: 15_000, outcomes: [] }),
    });
    return (await answer.json()) as TurnReply;
  };
  return { get, register, listed, turn };
}

describe('deployed code over HTTP', () => {
  it('is that of the tenant and the shared one, as far as the key may serve all of it', async () => {
    const shared = await deploy('default', 'mail.send');
    const own = await deploy('acme', 'mail.own');
    const mixed = await deploy('acme', 'mail.more', 'report.build');
    const theirs = await deploy('rival', 'mail.theirs');
    const all = await workerOf('acme');
    const mails = await workerOf('acme', ['mail.*']);
    const operator = await workerOf('default');
    for (const one of [all, mails, operator]) {
      expect((await one.register({ deployments: true })).status).toBe(200);
    }
    expect(await all.listed()).toEqual([shared, own, mixed]);
    expect(await mails.listed()).toEqual([shared, own]);
    expect(await operator.listed()).toEqual([shared]);

    const archive = await mails.get(`/artifacts/${own}`);
    expect(archive.headers.get('content-type')).toBe('application/octet-stream');
    const bytes = Buffer.from(await archive.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(own);
    const missing = '0'.repeat(64);
    const answerTo = async (sha256: string) => {
      const answer = await mails.get(`/artifacts/${sha256}`);
      return [answer.status, (await answer.text()).replaceAll(sha256, missing)];
    };
    const nothing = await answerTo(missing);
    expect(nothing[0]).toBe(404);
    expect(await answerTo(mixed)).toEqual(nothing);
    expect(await answerTo(theirs)).toEqual(nothing);
  });

  it('is for registered workers; only those that serve it may have no definitions', async () => {
    const own = await deploy('acme', 'mail.own');
    const worker = await workerOf('acme');
    expect((await worker.get('/deployments')).status).toBe(410);
    expect((await worker.get(`/artifacts/${own}`)).status).toBe(410);
    expect((await worker.register({})).status).toBe(400);
    expect((await worker.register({ deployments: true })).status).toBe(200);
    expect(await worker.listed()).toEqual([own]);
  });

  it('is announced by the end of a waiting turn', async () => {
    const worker = await workerOf('acme');
    await worker.register({ deployments: true });
    expect(await worker.listed()).toEqual([]);
    const made = Promise.withResolvers<string>();
    const turns = (async () => {
      // The first may end because the server has just begun to listen.
      for (let turns = 0; turns < 3; turns += 1) {
        expect((await worker.turn()).deployments).toBe(true);
        const listed = await worker.listed();
        if (listed.length > 0) return listed;
        if (turns === 0) made.resolve(await deploy('acme', 'mail.own'));
      }
      return [];
    })();
    expect(await turns).toEqual([await made.promise]);
  });
});
