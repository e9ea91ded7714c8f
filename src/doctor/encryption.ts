import { type Check, ok } from './check.ts';

/** The ids of the keys, the one that encrypts first. A ring that is wrong was refused before. */
export function judgeEncryption(keyIds: readonly string[]): Check {
  const [first, ...others] = keyIds;
  if (first === undefined) return ok('encryption', 'off: params and results are stored in clear');
  const old = others.length === 0 ? '' : `; also opened by ${others.join(', ')}`;
  return ok('encryption', `params and results are encrypted with the key ${first}${old}`);
}
