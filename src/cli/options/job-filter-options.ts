import type { Command } from 'commander';
import type { ListFilter } from '../../client/index.ts';
import { definitionOption } from './definition-option.ts';
import { states } from './option-values.ts';

/** The search that `list` and `export` share: words as arguments, and filters as options. */
export function addJobFilter(command: Command): Command {
  return command
    .argument('[search...]', 'a search, such as: status:failed owner:billing timeout')
    .option(
      '--status <status>',
      'only jobs in this state; may be repeated or comma-separated',
      states,
    )
    .addOption(definitionOption('only jobs of this definition'))
    .option('--tag <tag>', 'only jobs with this tag')
    .option('--error-code <code>', 'only jobs whose latest error has this code')
    .option('--created-after <time>', 'only jobs created at this time or later')
    .option('--created-before <time>', 'only jobs created before this time')
    .option('--run-after <time>', 'only waiting jobs due at this time or later')
    .option('--run-before <time>', 'only waiting jobs due before this time')
    .option('--q <search>', 'the same as the argument');
}

/** The words of the command line as one search. */
export function searchFilter<Options extends Pick<ListFilter, 'q'>>(
  words: readonly string[],
  options: Options,
): Options {
  const q = [...words, ...(options.q === undefined ? [] : [options.q])].join(' ').trim();
  return q === '' ? options : { ...options, q };
}
