import { type Command, Help, type HelpConfiguration } from 'commander';

/** Longer lines are hard to read, also on a wide terminal. */
const WIDTH_MAX = 80;
const TERM_WIDTH_MAX = 28;

/** The layout of `--help`: at most 80 columns, and a long flag has a line of its own. */
export const HELP_FORMAT: HelpConfiguration = {
  showGlobalOptions: true,
  padWidth: (command: Command, helper: Help) =>
    Math.min(TERM_WIDTH_MAX, Help.prototype.padWidth.call(helper, command, helper)),
  formatItem: (term: string, termWidth: number, description: string, helper: Help) => {
    const lay = (shown: string) =>
      Help.prototype.formatItem.call(helper, shown, termWidth, description, helper);
    if (description === '' || helper.displayWidth(term) <= termWidth) return lay(term);
    return `  ${term}\n${lay('')}`;
  },
};

export function helpWidth(stream: NodeJS.WritableStream): number {
  const columns = 'columns' in stream && typeof stream.columns === 'number' ? stream.columns : 0;
  return columns > 0 ? Math.min(columns, WIDTH_MAX) : WIDTH_MAX;
}
