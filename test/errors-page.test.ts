import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAILURE_CODES } from '../src/core/failure/failure.ts';
import { PROBLEMS } from '../src/protocol/problem.ts';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');

/** The rows of the table below a heading, as lists of cells. */
function tableBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const rows = own.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

test('docs/errors.md lists every way a job can fail, as the code does', () => {
  const expected = Object.entries(FAILURE_CODES).map(([code, { retryable, meaning }]) => [
    `\`${code}\``,
    retryable ? 'yes' : 'no',
    meaning,
  ]);
  expect(tableBelow('How a job can fail')).toEqual(expected);
});

test('docs/errors.md lists every refusal of the API, as the code does', () => {
  const expected = Object.entries(PROBLEMS).map(([code, { status, title }]) => [
    `\`${code}\``,
    String(status),
    title,
  ]);
  expect(tableBelow('How the API refuses')).toEqual(expected);
});
