import type { DefinitionLog } from '../../client/index.ts';
import { LEVELS } from '../../core/views/history.ts';
import { closed, oneOf, text, whole } from '../../protocol/fields.ts';
import { findDefinition } from '../find.ts';
import { tool } from '../tool.ts';
import { facts } from '../text/facts.ts';
import { earlierText, lastWithin, lineFilter, lineText } from '../text/log-lines.ts';

const LINES_DEFAULT = 40;
const LINES_MAX = 200;
/** The most that the server has in one answer; a filter looks through all of them. */
const SEARCHED = 1_000;

export const definitionLog = tool({
  name: 'definition_log',
  title: 'Log of a definition',
  description:
    'The newest log lines of all running and recent jobs of a definition, oldest first; each ' +
    `begins with the id of its job. level and contains filter the newest ${SEARCHED} lines. For ` +
    'the whole log of one job: job_log.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    definition: text(200).describe('The key of the definition.'),
    lines: whole(1, LINES_MAX)
      .default(LINES_DEFAULT)
      .describe(`The most lines. Default ${LINES_DEFAULT}.`),
    level: oneOf('level', LEVELS).optional().describe('Only lines of this level or a worse one.'),
    contains: text(200).optional().describe('Only lines with this text, in any case.'),
  }),
  run: async ({ definition: typed, lines, level, contains }, { client, signal }) => {
    const { key } = findDefinition(await client.definitions(), typed);
    const fits = lineFilter(level, contains);
    const found: DefinitionLog[] = [];
    let searched = 0;
    for await (const line of client.definitionLogs(key, { limit: SEARCHED, signal })) {
      searched += 1;
      if (fits(line)) found.push(line);
    }
    const shown = lastWithin(found.slice(-lines).map((line) => `${line.jobId} ${lineText(line)}`));
    return facts({
      definition: key,
      log: shown.join('\n'),
      none: noneText(found.length, searched),
      earlier: earlierText(found.length, shown.length),
    });
  },
});

function noneText(found: number, searched: number): string | null {
  if (found > 0) return null;
  if (searched > 0) return `None of the newest ${searched} lines matches.`;
  return 'Its running and recent jobs have logged nothing.';
}
