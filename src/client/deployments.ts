import type {
  DeployedView,
  DeploymentDetail,
  DeploymentView,
  DifferenceView,
  ReleaseView,
} from '../core/deployment/deployment-view.ts';
import type { DefinitionChange } from '../core/deployment/difference.ts';
import type { ReleaseChangeView } from '../core/deployment/release-change.ts';
import type { SchemaCheck } from '../core/deployment/schema-check.ts';
import type { DefinitionJobs, VersionJobs } from '../core/deployment/version-jobs.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

export type Deployment = DeploymentView;
export type Release = ReleaseView;
export type ReleaseChange = ReleaseChangeView;
/** A new deployment, and what it changes. */
export type Deployed = DeployedView;
export type Difference = DifferenceView;
export type { DefinitionChange, DefinitionJobs, DeploymentDetail, SchemaCheck, VersionJobs };

/** An uploaded archive. */
export interface Artifact {
  /** The SHA-256 of the archive. */
  artifactId: string;
  format: 'tar.gz' | 'zip';
  bytes: number;
  /** The definitions of its manifest. */
  definitions: string[];
  createdBy: string;
  createdAt: string;
}

export interface UploadOptions {
  /** Another content is refused. */
  sha256?: string | undefined;
  /** Id of the signing key, a colon, and the signature in base64. */
  signature?: string | undefined;
}

export interface DeployOptions {
  note?: string | null | undefined;
  /** The revision of the code, such as a commit. */
  revision?: string | null | undefined;
  /** False: new jobs do not get it before a promotion. Default true. */
  promote?: boolean | undefined;
  /** Only this share of new jobs gets it. */
  canaryPercent?: number | null | undefined;
}

export interface PromoteOptions {
  definitions?: readonly string[] | null | undefined;
  canaryPercent?: number | null | undefined;
  reason?: string | null | undefined;
}

/** A definition from an archive without a manifest. Other fields are rules of the definition. */
export interface NewDefinition {
  key: string;
  artifactId: string;
  /** `module:export` for Node; a list of texts for a program. */
  entrypoint: string | readonly string[];
  cron?: string | undefined;
  timezone?: string | undefined;
  params?: unknown;
  [rule: string]: unknown;
}

/** Deployed code: `client.deployments`. Changes need an admin key. */
export class Deployments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Uploads a tar.gz or zip. The same content again is the same artifact. */
  async upload(archive: Blob, options: UploadOptions = {}): Promise<Artifact> {
    const address = { path: '/v1/artifacts', query: queryOf(options) };
    return await this.#transport.upload<Artifact>(address, archive);
  }

  async artifact(artifactId: string): Promise<Artifact> {
    return await this.#get(`/v1/artifacts/${encodeURIComponent(artifactId)}`);
  }

  /** Not repeated after a broken connection: it could create a second deployment. */
  async create(artifactId: string, options: DeployOptions = {}): Promise<Deployed> {
    const body = { artifactId, ...options };
    return await this.#post<Deployed>('/v1/deployments', body, false);
  }

  /** Creates a definition, and its schedule with `cron`, from an archive without a manifest. */
  async define(definition: NewDefinition): Promise<Deployed> {
    return await this.#post<Deployed>('/v1/definitions', definition, false);
  }

  /** The newest first. */
  async list(page: { before?: number; limit?: number } = {}): Promise<Deployment[]> {
    const path = '/v1/deployments';
    const found = await this.#get<{ deployments: Deployment[] }>(path, queryOf(page));
    return found.deployments;
  }

  /** With what became of its jobs, and of those of the version before. */
  async get(number: number): Promise<DeploymentDetail> {
    return await this.#get(`/v1/deployments/${number}`);
  }

  /**
   * Compared with another deployment, or with what new jobs get now; and which waiting jobs and
   * schedules a new schema would reject.
   */
  async diff(number: number, against?: number): Promise<Difference> {
    const path = `/v1/deployments/${number}/diff`;
    return await this.#get<Difference>(path, queryOf({ against }));
  }

  async releases(): Promise<Release[]> {
    return (await this.#get<{ releases: Release[] }>('/v1/releases')).releases;
  }

  /** What was released, rolled back or retired, the newest first. Default: the last 24 hours. */
  async changes(page: { hours?: number } = {}): Promise<ReleaseChange[]> {
    const path = '/v1/releases/changes';
    return (await this.#get<{ changes: ReleaseChange[] }>(path, queryOf(page))).changes;
  }

  async promote(number: number, options: PromoteOptions = {}): Promise<Deployment> {
    return await this.#post('/v1/releases', { deployment: number, ...options }, true);
  }

  /** Not repeated after a broken connection: a second one would go back further. */
  async rollback(
    options: Pick<PromoteOptions, 'definitions' | 'reason'> = {},
  ): Promise<Deployment[]> {
    const path = '/v1/releases/rollback';
    const made = await this.#post<{ deployments: Deployment[] }>(path, options, false);
    return made.deployments;
  }

  async retire(number: number): Promise<Deployment> {
    return await this.#post(`/v1/deployments/${number}/retire`, undefined, true);
  }

  async #get<T>(path: string, query?: URLSearchParams): Promise<T> {
    const call = { method: 'GET', path, ...(query && { query }), repeatable: true } as const;
    return await this.#transport.call<T>(call);
  }

  async #post<T>(path: string, body: unknown, repeatable: boolean): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, body, repeatable });
  }
}
