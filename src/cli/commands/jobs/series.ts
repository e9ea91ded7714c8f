import { type Command, InvalidArgumentError } from 'commander';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { noteUnknown } from '../../options/known-definition.ts';
import { seriesText } from '../../text/jobs/series-text.ts';
import { clientOf, outputOf } from '../../session.ts';

const RANGE_MINUTES = {
  '15m': 15,
  '1h': 60,
  '6h': 360,
  '24h': 1_440,
  '7d': 10_080,
  '30d': 43_200,
} as const;
type Range = keyof typeof RANGE_MINUTES;
const RANGES = Object.keys(RANGE_MINUTES) as Range[];

export function addSeries(program: Command, cli: Cli): void {
  program
    .command('series')
    .summary('show what happened over time')
    .description('Show throughput, queue depth and times over time, of one definition or of all.')
    .argument('[definition]', 'one definition; default all')
    .option('--range <range>', `how far back: ${RANGES.join(', ')}; default 1h`, rangeOf)
    .allowExcessArguments(false)
    .action(async (given: string | undefined, options: { range?: Range }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const minutes = RANGE_MINUTES[options.range ?? '1h'];
      const series = await client.series({ definitionKey: given, minutes });
      if (out.json) return out.document(series);
      out.table(seriesText(series, out.width));
      await noteUnknown(out, client, given);
      out.note(`${given ?? 'All definitions'}, since ${series.from}.`);
    });
}

function rangeOf(value: string): Range {
  const range = RANGES.find((one) => one === value);
  if (range === undefined) throw new InvalidArgumentError(unknownName('range', value, RANGES));
  return range;
}
