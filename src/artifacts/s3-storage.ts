import { Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { isReportName } from '../core/report/report-name.ts';
import { IdleLimit } from './idle-limit.ts';
import type { S3Place } from './storage-address.ts';
import { hashIn, missing, type OpenedStorage, unavailable, verified } from './storage.ts';

/** An optional dependency, loaded only when needed. */
const loadS3 = async () => await import('@aws-sdk/client-s3');
type S3Package = Awaited<ReturnType<typeof loadS3>>;

export interface S3Options {
  /** By default those of the environment and the machine, as the AWS tools find them. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** A transfer without progress for this long fails. */
  idleMs?: number;
  connectMs?: number;
  /** For calls without a body. Bodies are streams and are sent once. */
  attempts?: number;
  load?: typeof loadS3;
}

const IDLE_MS = 30_000;
const CONNECT_MS = 5_000;
const ATTEMPTS = 3;
/** Errors are thrown; without this, the client also prints warnings. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const HASH_HEADER = 'x-amz-content-sha256';

/** Archives as objects of any S3, by the SDK of AWS. */
export class S3Storage implements OpenedStorage {
  readonly address: string;
  readonly #place: S3Place;
  readonly #package: S3Package;
  readonly #client: S3Client;
  readonly #idleMs: number;

  private constructor(place: S3Place, s3: S3Package, options: S3Options) {
    this.#place = place;
    this.#package = s3;
    this.#client = new s3.S3Client(clientConfig(place, options));
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.address = `s3://${place.bucket}/${place.prefix}`;
  }

  static async open(place: S3Place, options: S3Options = {}): Promise<S3Storage> {
    const { load = loadS3 } = options;
    const s3 = await load().catch((cause: unknown) => {
      const words =
        'artifacts in S3 need the package "@aws-sdk/client-s3": run "npm install @aws-sdk/client-s3"';
      throw new Error(words, { cause });
    });
    return new S3Storage(place, s3, options);
  }

  async put(name: string, bytes: number, source: AsyncIterable<Uint8Array>): Promise<void> {
    const sha256 = hashIn(name);
    const failure: SourceFailure = { found: null };
    const chunks = remembering(verified(source, sha256, bytes), failure);
    await this.#within(async (limit) => {
      const body = Readable.from(limit.sending(chunks), { objectMode: false });
      // The client would wait for the rest of the body.
      body.on('error', (error) => limit.abort(error));
      const command = new this.#package.PutObjectCommand({
        ...this.#at(name),
        Body: body,
        ContentLength: bytes,
        ContentType: 'application/octet-stream',
      });
      // Known in advance, so the server can compare it with what it receives.
      command.middlewareStack.add(
        (next) => (args) => {
          const { headers } = args.request as { headers: Record<string, string> };
          headers[HASH_HEADER] = sha256;
          return next(args);
        },
        { step: 'build', name: 'hashOfArtifact' },
      );
      try {
        await this.#client.send(command, { abortSignal: limit.signal });
      } finally {
        body.destroy();
      }
    }, failure);
  }

  async get(name: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const sha256 = hashIn(name);
    const limit = new IdleLimit(this.#idleMs);
    const abortSignal = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    try {
      const command = new this.#package.GetObjectCommand(this.#at(name));
      const { Body: body, ContentLength: bytes } = await this.#client.send(command, {
        abortSignal,
      });
      if (!(body instanceof Readable)) throw new Error('the answer has no body');
      abortSignal.addEventListener('abort', () => body.destroy(abortSignal.reason as Error));
      return this.#reading(body, limit, sha256, bytes ?? null);
    } catch (error) {
      limit.end();
      signal?.throwIfAborted();
      if (isNotFound(error)) throw missing(name, this.address);
      throw unavailable(this.address, limit.signal.aborted ? limit.signal.reason : error);
    }
  }

  async head(name: string): Promise<{ bytes: number } | null> {
    hashIn(name);
    try {
      const command = new this.#package.HeadObjectCommand(this.#at(name));
      const send = async (limit: IdleLimit) =>
        await this.#client.send(command, { abortSignal: limit.signal });
      const { ContentLength: bytes = 0 } = await this.#within(send);
      return { bytes };
    } catch (error) {
      if (error instanceof ArtifactError && isNotFound(error.cause)) return null;
      throw error;
    }
  }

  async delete(name: string): Promise<void> {
    hashIn(name);
    const command = new this.#package.DeleteObjectCommand(this.#at(name));
    await this.#within(
      async (limit) => await this.#client.send(command, { abortSignal: limit.signal }),
    );
  }

  async *reports(): AsyncGenerator<string> {
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    let ContinuationToken: string | undefined;
    do {
      const page = {
        Bucket,
        Prefix,
        ...(ContinuationToken !== undefined && { ContinuationToken }),
      };
      const command = new this.#package.ListObjectsV2Command(page);
      const found = await this.#within(
        async (limit) => await this.#client.send(command, { abortSignal: limit.signal }),
      );
      const names = (found.Contents ?? []).map(({ Key = '' }) => Key.slice(Prefix.length));
      yield* names.filter(isReportName);
      ContinuationToken = found.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  close(): void {
    this.#client.destroy();
  }

  async *#reading(
    body: Readable,
    limit: IdleLimit,
    sha256: string,
    bytes: number | null,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* verified(limit.receiving(body as AsyncIterable<Uint8Array>), sha256, bytes);
    } catch (error) {
      throw error instanceof ArtifactError ? error : unavailable(this.address, error);
    } finally {
      limit.end();
      body.destroy();
    }
  }

  async #within<T>(work: (limit: IdleLimit) => Promise<T>, failure?: SourceFailure): Promise<T> {
    const limit = new IdleLimit(this.#idleMs);
    try {
      return await work(limit);
    } catch (error) {
      if (failure?.found) throw failure.found.error;
      throw unavailable(this.address, limit.signal.aborted ? limit.signal.reason : error);
    } finally {
      limit.end();
    }
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${name}` };
  }
}

/** The failure of a source, which the client would report as one of its own. */
interface SourceFailure {
  found: { error: unknown } | null;
}

async function* remembering(
  source: AsyncIterable<Uint8Array>,
  failure: SourceFailure,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    failure.found = { error };
    throw error;
  }
}

function clientConfig(place: S3Place, options: S3Options): S3ClientConfig {
  const { credentials, connectMs = CONNECT_MS, attempts = ATTEMPTS } = options;
  return {
    forcePathStyle: place.pathStyle,
    maxAttempts: attempts,
    logger: SILENT,
    // The defaults add trailers and checksums that Garage, MinIO and B2 do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs },
    ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
    // Other servers than AWS rarely have regions, but the signature needs one.
    ...(place.region === null
      ? place.endpoint === null
        ? {}
        : { region: 'us-east-1' }
      : { region: place.region }),
    ...(credentials ? { credentials } : {}),
  };
}

function isNotFound(error: unknown): boolean {
  const { name } = error as { name?: string };
  return name === 'NoSuchKey' || name === 'NotFound';
}
