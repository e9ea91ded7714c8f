import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * Comments, texts and docs use plain words (`AGENTS.md`). This list holds phrases that we have
 * replaced; a line that brings one back fails here. `[phrase, what to write instead]`.
 */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bnobody('s)?\b/i, 'name the noun: no caller, no worker, no user'],
  [/\bsomebody('s)?\b/i, 'name the noun: a caller, a worker, a user'],
  [/\b(whoever|whomever)\b/i, 'name the noun'],
  [/\b(is|are|was|were|be) told\b/i, 'notified, shown or logged'],
  [/\bthere is no such thing\b/i, 'not found'],
  [/\blanes?\b/i, 'queue'],
  [/\b(tally|tallies)\b/i, 'counters'],
  [/\binbox\b/i, 'enqueuer'],
  [/\bberths?\b/i, 'capacity'],
  [/\bdeeds?\b/i, 'audit entry'],
  [/\bhand-overs?\b/i, 'direct start'],
  [/\bclean[ -]rooms?\b/i, 'sandbox'],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const CHECKED = 'src web/src docs README.md test chaos examples deploy scripts'.split(' ');
const files = execFileSync('git', ['ls-files', ...CHECKED], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(ts|tsx|js|css|md|html|sql|sh|yaml)$/.test(path))
  .filter((path) => path !== 'test/plain-words.test.ts');

/** `path:line: the phrase: what to write instead`, for every banned phrase of a file. */
function violations(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) =>
    BANNED.flatMap(([phrase, instead]) => {
      const found = phrase.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}": write ${instead}`];
    }),
  );
}

test('a banned phrase is found with its line', () => {
  expect(violations('a.ts', 'fine\n// Whoever asks')).toEqual([
    'a.ts:2: "Whoever": write name the noun',
  ]);
  expect(violations('a.ts', 'planes, inboxes-free, told')).toEqual([]);
});

test('sources and docs use plain words', () => {
  const found = files.flatMap((path) => violations(path, readFileSync(root + path, 'utf8')));
  expect(found).toEqual([]);
});
