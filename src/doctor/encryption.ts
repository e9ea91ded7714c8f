import { type Check, ok } from './check.ts';

/** Ids of the keys, the encrypting one first. Invalid keys were rejected before. */
export function judgeEncryption(keyIds: readonly string[]): Check {
  const [first, ...others] = keyIds;
  if (first === undefined)
    return ok('encryption', 'off: params and results are stored unencrypted');
  const old = others.length === 0 ? '' : `; also decrypted by ${others.join(', ')}`;
  return ok('encryption', `params and results are encrypted with key ${first}${old}`);
}
