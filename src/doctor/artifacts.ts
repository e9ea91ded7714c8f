import { type Check, ok, problem } from './check.ts';

export type StorageFacts =
  /** A small object was written, read and deleted. */
  | { state: 'works'; where: string }
  /** The folder will be created by the first upload. */
  | { state: 'new'; where: string }
  | { state: 'fails'; where: string; step: 'open' | 'write' | 'read' | 'delete'; reason: string };

const SETTING = 'LONGSHORE_ARTIFACTS';

/** The storage of deployed code. A server starts without it, but takes no deployments. */
export function judgeStorage(facts: StorageFacts): Check {
  switch (facts.state) {
    case 'works':
      return ok('artifacts', `${facts.where}, written, read and deleted`);
    case 'new':
      return ok('artifacts', `${facts.where}, created by the first upload`);
    case 'fails':
      return problem(
        'artifacts',
        `cannot ${facts.step} ${facts.where}: ${facts.reason}`,
        `correct ${SETTING}, or the rights and credentials of the server there`,
      );
  }
}

export type SigningFacts =
  { state: 'none' } | { state: 'keys'; keyIds: string[] } | { state: 'wrong'; reason: string };

/** The keys that must have signed deployed code. */
export function judgeSigning(facts: SigningFacts): Check {
  switch (facts.state) {
    case 'none':
      return ok('artifact-keys', 'none: deployed code needs no signature');
    case 'keys':
      return ok('artifact-keys', `deployed code must be signed by ${facts.keyIds.join(' or ')}`);
    case 'wrong':
      return problem('artifact-keys', facts.reason, 'correct LONGSHORE_ARTIFACT_KEYS');
  }
}
