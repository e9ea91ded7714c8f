import type { z } from 'zod';
import { unknownName } from '../core/values/nearest.ts';
import { escapePointer } from '../core/job/params.ts';
import { FINDINGS_MAX } from './findings.ts';
import type { Violation } from './problem.ts';

type Issue = z.core.$ZodIssue;

/** Zod issues as API violations: a JSON pointer and one message each, without duplicates. */
export function violations(issues: readonly Issue[], what: string, at = ''): Violation[] {
  const found = new Map<string, Violation>();
  for (const issue of issues) {
    for (const violation of told(issue, what, at + pointerOf(issue.path))) {
      found.set(`${violation.pointer}\n${violation.detail}`, violation);
    }
    if (found.size >= FINDINGS_MAX) break;
  }
  return [...found.values()];
}

function told(issue: Issue, what: string, pointer: string): Violation[] {
  if (issue.code === 'invalid_union') return violations(meant(issue.errors), what, pointer);
  if (issue.code !== 'unrecognized_keys') return [{ pointer, detail: issue.message }];
  const known = issue.message.split(' ');
  return issue.keys.slice(0, FINDINGS_MAX).map((key) => ({
    pointer: pointer + pointerOf([key]),
    detail: unknownName(what, key, known),
  }));
}

/** Of the alternatives of a union, the one whose outer shape fits. */
function meant(alternatives: readonly (readonly Issue[])[]): readonly Issue[] {
  const fits = (issues: readonly Issue[]) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys');
  return alternatives.find(fits) ?? alternatives[0] ?? [];
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${escapePointer(String(step))}`).join('');
}
