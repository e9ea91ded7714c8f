import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unknownName } from '../core/values/nearest.ts';

/** An S3 bucket, as in `s3://bucket/prefix?endpoint=http://localhost:9000&region=eu-central-1`. */
export interface S3Place {
  kind: 's3';
  bucket: string;
  /** '' or a text that ends in a slash. */
  prefix: string;
  endpoint: string | null;
  region: string | null;
  /** The bucket in the path instead of the host name; the default where an endpoint is given. */
  pathStyle: boolean;
}

export interface FilePlace {
  kind: 'file';
  folder: string;
}

const OPTIONS = ['endpoint', 'region', 'pathStyle'];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Reads `s3://…`, `file://…` or a path. Throws an Error that says what is wrong. */
export function parseStorageAddress(address: string): S3Place | FilePlace {
  if (address.startsWith('file:')) return { kind: 'file', folder: fileURLToPath(address) };
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(address)?.[1];
  if (scheme === undefined) return { kind: 'file', folder: resolve(address) };
  if (scheme !== 's3' || !URL.canParse(address)) {
    throw new Error(
      'a storage of artifacts is s3://bucket/prefix?endpoint=…&region=…, file:///folder or a path',
    );
  }
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') {
    throw new Error(
      'the address of a storage must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  for (const name of url.searchParams.keys()) {
    if (!OPTIONS.includes(name)) throw new Error(unknownName('option of s3://', name, OPTIONS));
  }
  if (!BUCKET.test(url.host)) throw new Error(`"${url.host}" is no name of a bucket`);
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:\/\/[^/]+\/?$/.test(endpoint)) {
    throw new Error('endpoint must be a URL such as https://s3.example.com');
  }
  const pathStyle = url.searchParams.get('pathStyle') ?? String(endpoint !== null);
  if (!/^(true|false)$/.test(pathStyle)) throw new Error('pathStyle must be true or false');
  const folders = decodeURIComponent(url.pathname).split('/').filter(Boolean);
  return {
    kind: 's3',
    bucket: url.host,
    prefix: folders.map((name) => `${name}/`).join(''),
    endpoint,
    region: url.searchParams.get('region'),
    pathStyle: pathStyle === 'true',
  };
}
