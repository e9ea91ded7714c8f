import { type Check, ok, problem, warning } from './check.ts';

export type DefinitionFacts =
  | { path: string; state: 'missing' }
  /** The loading process exited or did not finish. */
  | { path: string; state: 'failed'; reason: string }
  | { path: string; state: 'loaded'; count: number; problems: readonly string[] };

const WRITE_ONE =
  'put a file that calls defineJob there, or set LONGSHORE_JOBS; only workers need it';

export function judgeDefinitions(facts: DefinitionFacts): Check {
  const { path, state } = facts;
  switch (state) {
    case 'missing':
      return warning('definitions', `${path}: no such file or folder`, WRITE_ONE);
    case 'failed':
      return problem(
        'definitions',
        `${path} could not be loaded: ${facts.reason}`,
        'check what the files do on load, and whether the user of the jobs may read them',
      );
    case 'loaded': {
      const { count, problems } = facts;
      if (problems.length > 0) {
        const fix = `fix the named files; the other definitions (${count}) can run`;
        return problem('definitions', problems.join('; '), fix);
      }
      if (count === 0) return warning('definitions', `none in ${path}`, WRITE_ONE);
      return ok('definitions', `${count} in ${path}`);
    }
  }
}
