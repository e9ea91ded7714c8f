import { actorWords } from '../../../core/identity/actor.ts';
import type { Command } from 'commander';
import { age } from '../../../core/values/duration.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { clientOf, outputOf } from '../../session.ts';

export function addViews(program: Command, cli: Cli): void {
  const views = program
    .command('views')
    .summary('list, save and remove saved views')
    .description('Manage saved views: searches with a name, which the people of a tenant share.');
  addList(views, cli);
  addSave(views, cli);
  addRemove(views, cli);
}

const HEADER = ['NAME', 'SCREEN', 'AGE', 'SAVED BY', 'SEARCH'];

function addList(views: Command, cli: Cli): void {
  views
    .command('list')
    .description('List saved views.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).views.list();
      if (out.json) return out.document({ views: found });
      if (found.length === 0) return out.note('No saved views.');
      const now = cli.clock.now().getTime();
      const rows = found.map(({ name, screen, query, updatedAt, updatedBy }) => {
        const search = [...new URLSearchParams(query)].map(([key, value]) => `${key}=${value}`);
        return [
          name,
          screen,
          age(now - Date.parse(updatedAt)),
          actorWords(updatedBy),
          search.join(' '),
        ];
      });
      out.table(columns([HEADER, ...rows], out.width));
    });
}

function addSave(views: Command, cli: Cli): void {
  views
    .command('save')
    .description('Save a search of jobs under a name; replaces the view with this name.')
    .argument('<name>', 'the name of the view')
    .argument('<search...>', 'the search, such as: status:failed owner:billing')
    .action(async (name: string, words: string[], _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const query = new URLSearchParams({ q: words.join(' ') }).toString();
      const saved = await clientOf(cli, command).views.save(name, { screen: 'jobs', query });
      if (out.json) out.document(saved);
      else out.lines([saved.name]);
    });
}

function addRemove(views: Command, cli: Cli): void {
  views
    .command('remove')
    .description('Remove a saved view.')
    .argument('<name>', 'the name of the view')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      await clientOf(cli, command).views.delete(name);
      if (out.json) out.document({ name, deleted: true });
      else out.lines([name]);
    });
}
