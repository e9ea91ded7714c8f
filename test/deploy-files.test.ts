import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
// A dependency of @fastify/swagger, so it is there wherever Longshore is.
import { parseAllDocuments } from 'yaml';
import { fileVariantOf, SETTINGS } from '../src/config/schema.ts';
import { CAPABILITIES_FOR_USERS } from '../src/worker/isolation/job-users.ts';

/** The templates in deploy/ cannot all be run here; what can be known without running is checked. */

const FOLDER = fileURLToPath(new URL('../deploy/', import.meta.url));
const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const defaultDrainMs = 30_000;

function allIn<Document>(name: string): Document[] {
  return parseAllDocuments(textOf(name), { merge: true }).map((one) => one.toJS() as Document);
}

function firstIn<Document>(name: string): Document {
  const [document] = allIn<Document>(name);
  if (!document) throw new Error(`${name} is empty`);
  return document;
}

/** Health and metrics of a process need no key; the API does. */
const KEYED_ROLES = ['api'];

interface Deployment {
  kind: string;
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds?: number;
        containers: {
          args: string[];
          env?: { name: string; value: string }[];
          ports?: { name: string; containerPort: number }[];
          securityContext?: {
            runAsUser: number;
            allowPrivilegeEscalation: boolean;
            capabilities: { drop: string[]; add?: string[] };
          };
        }[];
      };
    };
  };
}

interface ScaledObject {
  spec: { triggers: { type: string; metadata: Record<string, string> }[] };
}

interface KubernetesService {
  kind: string;
  spec: { ports: { port: number }[] };
}

interface Compose {
  services: Record<
    string,
    {
      command: string[];
      stop_grace_period: string;
      environment: Record<string, string>;
      user?: string;
      cap_drop?: string[];
      cap_add?: string[];
      security_opt?: string[];
    }
  >;
}

interface PodMonitor {
  spec: {
    selector: {
      matchLabels: { role?: string };
      matchExpressions?: { values: string[] }[];
    };
    podMetricsEndpoints: { port: string; path: string; authorization?: object }[];
  };
}

interface Prometheus {
  scrape_configs: { authorization?: object; dns_sd_configs: { names: string[]; port: number }[] }[];
}

describe('the templates in deploy/', () => {
  test.each(files)('%s names no setting that Longshore would refuse', (file) => {
    const known = SETTINGS.flatMap((one) => [one.env, fileVariantOf(one) ?? []].flat());
    const named = readFileSync(file, 'utf8').match(/\b(LONGSHORE_[A-Z_]+|DATABASE_URL\w*)/g) ?? [];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(files.filter((file) => file.endsWith('.yaml')))('%s is YAML', (file) => {
    const documents = parseAllDocuments(readFileSync(file, 'utf8'), { merge: true });
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  });

  test('compose gives each role longer to stop than it drains', () => {
    const { services } = firstIn<Compose>('compose.yaml');
    expect(Object.keys(services)).toEqual(['postgres', 'migrate', 'api', 'worker', 'scheduler']);
    for (const role of ['api', 'worker', 'scheduler']) {
      expect(services[role]?.command[0]).toBe(role);
      expect(parseInt(services[role]?.stop_grace_period ?? '') * 1_000).toBeGreaterThan(
        defaultDrainMs,
      );
    }
  });

  test('Kubernetes selects the pods it makes, and waits longer than they drain', () => {
    for (const role of ['api', 'worker', 'scheduler']) {
      const { kind, spec } = firstIn<Deployment>(`kubernetes/${role}.yaml`);
      expect(kind).toBe('Deployment');
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      const [container] = spec.template.spec.containers;
      expect(container?.args).toEqual([role]);
      const drain = container?.env?.find(({ name }) => name === 'LONGSHORE_DRAIN_MS')?.value;
      const { terminationGracePeriodSeconds: graceSeconds } = spec.template.spec;
      if (role === 'worker') expect(graceSeconds).toBeGreaterThan(Number(drain) / 1_000);
    }
  });

  test('Prometheus finds every role of compose at the port that it serves, by a name it knows', () => {
    const { services } = firstIn<Compose>('compose.yaml');
    const { scrape_configs: jobs } = firstIn<Prometheus>('prometheus/prometheus.yaml');
    const scraped = jobs.flatMap(({ authorization, dns_sd_configs: lookups }) =>
      lookups.flatMap(({ names, port }) =>
        names.map((role) => ({ role, port: String(port), keyed: authorization !== undefined })),
      ),
    );
    const served = ['api', 'worker', 'scheduler'].map((role) => {
      const { LONGSHORE_METRICS_PORT: port = '4400', ...rest } = services[role]?.environment ?? {};
      const host = role === 'api' ? rest['LONGSHORE_HOST'] : rest['LONGSHORE_METRICS_HOST'];
      expect([role, host]).toEqual([role, '0.0.0.0']);
      return { role, port, keyed: KEYED_ROLES.includes(role) };
    });
    expect(scraped).toEqual(served);
    expect(services['api']?.environment['LONGSHORE_ALLOWED_HOSTS']).toBe('api');
  });

  test('the PodMonitors name ports that the pods serve', () => {
    const monitors = allIn<PodMonitor>('kubernetes/pod-monitors.yaml');
    for (const role of ['api', 'worker', 'scheduler']) {
      const own = monitors.filter(({ spec: { selector } }) => {
        const named = selector.matchExpressions?.flatMap(({ values }) => values);
        return (named ?? [selector.matchLabels.role]).includes(role);
      });
      const [endpoint, ...more] = own.flatMap(({ spec }) => spec.podMetricsEndpoints);
      expect(more).toEqual([]);
      expect(endpoint?.authorization !== undefined).toBe(KEYED_ROLES.includes(role));
      const { spec } = firstIn<Deployment>(`kubernetes/${role}.yaml`);
      const [container] = spec.template.spec.containers;
      const valueOf = (wanted: string) =>
        container?.env?.find(({ name }) => name === wanted)?.value;
      const port = container?.ports?.find(({ name }) => name === endpoint?.port)?.containerPort;
      expect(String(port)).toBe(valueOf('LONGSHORE_METRICS_PORT') ?? '4400');
      const host = role === 'api' ? 'LONGSHORE_HOST' : 'LONGSHORE_METRICS_HOST';
      expect(valueOf(host)).toBe('0.0.0.0');
    }
  });

  test('the API of Kubernetes may be called by the name of its Service', () => {
    const [deployment, service] = allIn<Deployment & { metadata: { name: string } }>(
      'kubernetes/api.yaml',
    );
    const [container] = deployment?.spec.template.spec.containers ?? [];
    const allowed = container?.env?.find(({ name }) => name === 'LONGSHORE_ALLOWED_HOSTS')?.value;
    expect(allowed?.split(',')).toContain(service?.metadata.name);
  });

  test('the systemd unit waits longer than Longshore drains', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(textOf('systemd/longshore@.service')) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(defaultDrainMs);
  });

  describe('run jobs as other users than their worker', () => {
    const needed = CAPABILITIES_FOR_USERS.map(({ name }) => name).toSorted();

    test('Docker', () => {
      expect(textOf('Dockerfile')).toMatch(/^USER root$/m);
      const added = [...textOf('Dockerfile').matchAll(/--cap-add (\w+)/g)].map(
        ([, name = '']) => name,
      );
      expect(added.toSorted()).toEqual(needed);
    });

    test('compose', () => {
      const { services } = firstIn<Compose>('compose.yaml');
      for (const [name, service] of Object.entries(services)) {
        if (name === 'postgres') continue;
        const { user, cap_drop: dropped, cap_add: added = [], security_opt: options } = service;
        const isWorker = name === 'worker';
        expect({ name, user, dropped, added: added.toSorted(), options }).toEqual({
          name,
          user: isWorker ? 'root' : 'node',
          dropped: ['ALL'],
          added: isWorker ? needed : [],
          options: ['no-new-privileges:true'],
        });
      }
    });

    test('Kubernetes', () => {
      for (const role of ['api', 'worker', 'scheduler', 'migrate']) {
        const { spec } = firstIn<Deployment>(`kubernetes/${role}.yaml`);
        const context = spec.template.spec.containers[0]?.securityContext;
        expect({ role, ...context }).toMatchObject({
          role,
          runAsUser: role === 'worker' ? 0 : 1_000,
          allowPrivilegeEscalation: false,
        });
        expect(context?.capabilities.drop).toEqual(['ALL']);
        expect(context?.capabilities.add?.toSorted() ?? []).toEqual(
          role === 'worker' ? needed : [],
        );
      }
    });

    test('systemd', () => {
      const text = textOf('systemd/longshore@worker.service.d/users.conf');
      expect(text).toMatch(/^User=root$/m);
      const [, set = ''] = /^CapabilityBoundingSet=(.*)$/m.exec(text) ?? [];
      expect(set.split(' ').toSorted()).toEqual(needed.map((name) => `CAP_${name}`));
      expect(textOf('systemd/longshore@.service')).toMatch(/^User=longshore$/m);
    });
  });

  test('KEDA asks the Service of the API, and divides by the slots of a worker', () => {
    const [scaled] = allIn<ScaledObject>('kubernetes/keda.yaml');
    const [trigger] = scaled?.spec.triggers ?? [];
    const { url = '', targetValue } = trigger?.metadata ?? {};
    const { hostname, port } = new URL(url);
    const env = (role: string, wanted: string) =>
      firstIn<Deployment>(`kubernetes/${role}.yaml`).spec.template.spec.containers[0]?.env?.find(
        ({ name }) => name === wanted,
      )?.value;
    expect(env('api', 'LONGSHORE_ALLOWED_HOSTS')?.split(',')).toContain(hostname);
    const services = allIn<KubernetesService>('kubernetes/api.yaml');
    const { spec } = services.find(({ kind }) => kind === 'Service') ?? {};
    expect(spec?.ports.map((one) => String(one.port))).toContain(port);
    expect(targetValue).toBe(env('worker', 'LONGSHORE_CONCURRENCY'));
  });
});

describe('npm ci in the image finds the packages that package.json names', () => {
  const docs = readFileSync(new URL('../docs/sdk.md', import.meta.url), 'utf8');
  const tarball = /npm install \.\/(\S+\.tgz)/.exec(docs)?.[1] ?? 'not in docs/sdk.md';

  test.each([
    ['with the file that docs/sdk.md installs', [tarball]],
    ['without such files', []],
  ])('%s', (_, packages) => {
    const root = mkdtempSync(join(tmpdir(), 'longshore-image-'));
    const context = join(root, 'context');
    const image = join(root, 'image');
    for (const path of ['package.json', 'package-lock.json', 'jobs/a.ts', ...packages]) {
      mkdirSync(dirname(join(context, path)), { recursive: true });
      writeFileSync(join(context, path), path);
    }
    mkdirSync(image);
    const before = textOf('Dockerfile').split(/ && npm ci|^RUN npm ci/m)[0] ?? '';
    for (const line of before.split('\n')) {
      const [instruction, ...words] = line.split(' ');
      if (instruction === 'COPY')
        copy(context, words.slice(0, -1), join(image, words.at(-1) ?? ''));
      if (instruction === 'RUN') execFileSync('sh', ['-c', words.join(' ')], { cwd: image });
    }
    const present = readdirSync(image, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(image.length + 1));
    rmSync(root, { recursive: true });
    expect(present.toSorted()).toEqual(['package-lock.json', 'package.json', ...packages]);
  });
});

/** As COPY does: of a folder its contents, and of a pattern what matches, which may be nothing. */
function copy(context: string, sources: readonly string[], target: string): void {
  mkdirSync(target, { recursive: true });
  for (const source of sources) {
    for (const path of globSync(source, { cwd: context }).map((name) => join(context, name))) {
      const isFolder = statSync(path).isDirectory();
      cpSync(path, isFolder ? target : join(target, basename(path)), { recursive: true });
    }
  }
}
