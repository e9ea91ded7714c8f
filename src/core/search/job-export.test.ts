import { describe, expect, it, test } from 'vitest';
import type { JobView } from '../job/job.ts';
import { ExportCount, exportHead, exportLine } from './job-export.ts';

const ID = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
const OTHER = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1401';

const job = (changes: Partial<JobView>): JobView =>
  ({ jobId: ID, tags: [], params: {}, result: null, error: null, ...changes }) as JobView;

const error = (message: string) => ({ code: 'X', message, stack: null, cause: null });

function cells(one: JobView): Record<string, string> {
  const names = exportHead('csv').trim().split(',');
  const values = exportLine('csv', one).trim().split(',');
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
}

describe('CSV', () => {
  it.each(['=cmd()', '+1+1', '-a', '@sum', '\tx'])('does not let %j run as a formula', (text) => {
    expect(cells(job({ error: error(text) }))['errorMessage']).toBe(`'${text}`);
  });

  it('has the message of the innermost cause', () => {
    const cause = { ...error('in between'), cause: error('connection refused') };
    const failed = job({ error: { ...error('no mail'), cause } });
    expect(cells(failed)['rootCause']).toBe('connection refused');
    expect(cells(job({ error: error('alone') }))['rootCause']).toBe('');
  });

  it('keeps numbers, and quotes what would end a cell', () => {
    expect(cells(job({ error: error('-5') }))['errorMessage']).toBe('-5');
    expect(exportLine('csv', job({ error: error('a, "b"\nc') }))).toContain('"a, ""b""\nc"');
    expect(exportLine('csv', job({ params: { a: 1 } }))).toContain('"{""a"":1}"');
  });
});

test('a line of JSON is the job as the API shows it', () => {
  const one = job({ tags: ['a'] });
  expect(JSON.parse(exportLine('jsonl', one))).toEqual(one);
  expect(exportHead('jsonl')).toBe('');
});

describe.each(['csv', 'jsonl'] as const)('counts rows of %s', (format) => {
  const text = [
    exportHead(format),
    exportLine(format, job({ error: error('two\nlines "and" quotes') })),
    exportLine(format, job({ jobId: OTHER, params: { parent: ID } })),
  ].join('');

  it.each([1, 7, 10_000])('in parts of %i characters', (size) => {
    const count = new ExportCount(format);
    for (let at = 0; at < text.length; at += size) count.add(text.slice(at, at + size));
    expect([count.rows, count.lastId]).toEqual([2, OTHER]);
  });

  it('when there are none', () => {
    const count = new ExportCount(format);
    count.add(exportHead(format));
    expect([count.rows, count.lastId]).toEqual([0, null]);
  });
});
