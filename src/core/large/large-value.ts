import { contentOf, SEALED } from '../access/sealed.ts';
import { PARAMS_MAX_BYTES } from '../job/params.ts';
import { RESULT_MAX_BYTES } from '../job/result.ts';

/**
 * Params or a result that is too large for the database. It is in the storage of artifacts, and its
 * place in the row has a reference: `{"$sealed":"@<bytes>.<name>"}`. The name `$sealed` is reserved
 * (`core/access/sealed.ts`): params, results and steps of callers cannot contain it, so no caller can
 * write a reference. Like an envelope it can be copied by statements, and is found at the top level or in
 * a field of an object that SQL built, as in the params of hooks.
 */
export type LargeKind = 'params' | 'result';

/** What the database stores itself. */
export const INLINE_MAX_BYTES: Readonly<Record<LargeKind, number>> = {
  params: PARAMS_MAX_BYTES,
  result: RESULT_MAX_BYTES,
};

/** The largest limit that an operator can set. */
export const LARGE_VALUE_MAX_BYTES = 64 * 1_048_576;

export interface LargeRef {
  /** Under which the storage has it. */
  name: string;
  tenant: string;
  /** For which it was written. */
  jobId: string;
  kind: LargeKind;
  /** Of the JSON text. */
  bytes: number;
}

const NAME =
  /^value\.([a-z0-9][a-z0-9-]{0,62})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(params|result)\.[0-9a-f]{64}$/;
const CONTENT = /^@(\d{1,10})\.(value\..+)$/;
const BEGIN = `{"${SEALED}":"@`;

/** A flat name like that of a report (`core/report/report-name.ts`); the hash is that of what is stored. */
export function largeName(
  { tenant, jobId, kind }: Pick<LargeRef, 'tenant' | 'jobId' | 'kind'>,
  sha256: string,
): string {
  return `value.${tenant}.${jobId}.${kind}.${sha256}`;
}

export function isLargeName(name: string): boolean {
  return NAME.test(name);
}

export function largeText({ name, bytes }: Pick<LargeRef, 'name' | 'bytes'>): string {
  return `${BEGIN}${bytes}.${name}"}`;
}

/** Whether a stored JSON text is a reference. */
export function isLargeText(json: string): boolean {
  return json.startsWith(BEGIN);
}

/** Whether it is a reference, or an object of ours with one in a field. */
export function mayHoldLarge(json: string): boolean {
  return json.includes(`"${SEALED}":"@`) || json.includes(`"${SEALED}" : "@`);
}

/** The reference; null when the value is not one. */
export function largeRefOf(value: unknown): LargeRef | null {
  const content = contentOf(value);
  return content === null ? null : parseLarge(content);
}

/** The reference in the content of an envelope. */
export function parseLarge(content: string): LargeRef | null {
  const [, bytes = '', name = ''] = CONTENT.exec(content) ?? [];
  const [, tenant = '', jobId = '', kind = ''] = NAME.exec(name) ?? [];
  if (tenant === '') return null;
  return { name, tenant, jobId, kind: kind as LargeKind, bytes: Number(bytes) };
}

/** What views show in place of a value. */
export function largeNote({ bytes }: Pick<LargeRef, 'bytes'>): string {
  return `[large value: ${bytes} bytes]`;
}

/** The value is missing in the storage, or what is there is not what was written. */
export class LargeValueLost extends Error {
  override name = 'LargeValueLost';
}
