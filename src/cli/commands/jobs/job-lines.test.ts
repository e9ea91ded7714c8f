import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { InvalidRequest } from '../../../client/index.ts';
import { JobLines, readJobLines, readSomeJobLines } from './job-lines.ts';
import { UsageError } from '../../options/usage-error.ts';

const stdin = (content: string) => Readable.from([Buffer.from(content)]);

test('one job per line, with its options; empty lines are skipped', () => {
  const { jobs } = new JobLines(
    '\uFEFF{"definitionKey":"mail","params":{"to":"ada"}}\r\n\n{"definitionKey":"mail","priority":2}\n',
    'jobs.jsonl',
  );
  expect(jobs).toEqual([
    { definition: 'mail', params: { to: 'ada' }, options: {} },
    { definition: 'mail', params: undefined, options: { priority: 2 } },
  ]);
});

test.each([
  ['{"definitionKey":"mail"', /^line 2 of a\.jsonl is not JSON: (?!.*line 1)/],
  ['[]', /^line 2 of a\.jsonl must be like \{"definitionKey":"hello","params":\{\}\}$/],
  ['{"key":"mail"}', /^line 2 of a\.jsonl must be like /],
  ['{"definitionKey":"mail","params":{"n":1234567890123456789}}', /would be rounded/],
])('%s is refused', (line, message) => {
  const read = () => new JobLines(`{"definitionKey":"mail"}\n${line}\n`, 'a.jsonl');
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
});

test('stdin, a file that is missing, and one without jobs', async () => {
  expect((await readJobLines('-', stdin('{"definitionKey":"mail"}'))).jobs).toHaveLength(1);
  expect((await readJobLines('-', stdin('\n'))).jobs).toEqual([]);
  await expect(readSomeJobLines('-', stdin('\n'))).rejects.toThrow(/^stdin has no jobs/);
  const missing = readJobLines('/nowhere/jobs.jsonl', stdin(''));
  await expect(missing).rejects.toThrow(/^cannot read .*: there is no such file$/);
});

test('a refusal names the line', () => {
  const lines = new JobLines('\n\n{"definitionKey":"mail","paramz":{}}', 'a.jsonl');
  const refusal = (pointer: string) =>
    new InvalidRequest(400, 'VALIDATION_FAILED', 'no', [{ pointer, detail: 'unknown field' }]);
  const told = (error: unknown) => () => lines.refused(error);
  expect(told(refusal('/jobs/0/paramz'))).toThrow('line 3 of a.jsonl: paramz: unknown field');
  expect(told(refusal('/jobs/0'))).toThrow('line 3 of a.jsonl: unknown field');
  for (const other of [refusal('/name'), refusal('/jobs/7'), new Error('broken')]) {
    expect(told(other)).toThrow(other);
  }
});
