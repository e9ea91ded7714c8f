import { expect, it } from 'vitest';
import { loadDefinitions } from '../load.ts';

it('names the flag for a folder that is not there', async () => {
  expect(await loadDefinitions('./no-jobs-here')).toEqual({
    definitions: [],
    problems: [
      './no-jobs-here: no such file or folder; name the folder of your jobs with --jobs FOLDER, ' +
        'or create a project with npx longshore init',
    ],
  });
});
