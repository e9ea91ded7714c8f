import type { SchemaResult } from '../../core/definition/define.ts';

type Issues = NonNullable<SchemaResult<unknown>['issues']>;

/** The first issues of a value that does not fit its schema, in one line. */
export function schemaIssues(issues: Issues): string {
  const shown = issues.slice(0, 5).map(({ message, path = [] }) => {
    const location = path.map((part) => String(keyOf(part))).join('.');
    return location === '' ? message : `${location}: ${message}`;
  });
  return shown.join('; ');
}

function keyOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'key' in part ? part.key : part;
}
