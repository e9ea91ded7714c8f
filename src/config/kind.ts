/** Type of a setting; `parse.ts` parses it and words the error. */
export type Kind =
  | { type: 'text' }
  | { type: 'integer'; min: number; max: number }
  | { type: 'choice'; choices: readonly string[] }
  | { type: 'variables' }
  | { type: 'names' }
  | { type: 'networks' }
  | { type: 'alerts' }
  | { type: 'brokers' }
  | { type: 'key-ring' }
  | { type: 'job-lines' }
  | { type: 'uids' }
  | { type: 'workers' }
  | { type: 'groups' }
  /** `keepsSlash`: a slash at the end is part of the value. */
  | { type: 'url'; protocols: readonly string[]; keepsSlash?: boolean };
