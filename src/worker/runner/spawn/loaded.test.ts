import { expect, test } from 'vitest';
import { firstLines, unreadable } from '../loaded.ts';

test('a file that the user of jobs may not read gets a hint', () => {
  const error = Object.assign(new Error("EACCES: permission denied, open '/srv/jobs/a.ts'"), {
    code: 'EACCES',
  });
  expect(firstLines(error)).toBe(
    'the user of the process that runs jobs may not read /srv/jobs/a.ts: ' +
      'run chmod -R a+rX on the project, and chmod a+x on the folders above it',
  );
});

test.each([
  Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' }),
  new Error('EACCES'),
  'EACCES',
])('%s is another problem', (error) => {
  expect(unreadable(error)).toBeNull();
});
