import type { Command } from 'commander';
import type { Session } from '../../client/index.ts';
import { age } from '../../core/values/duration.ts';
import type { Cli } from '../cli.ts';
import { clientOf, outputOf } from '../session.ts';
import { columns } from '../text/columns.ts';

export function addSessions(program: Command, cli: Cli): void {
  const sessions = program
    .command('sessions')
    .summary('list and revoke sessions of browsers')
    .description(
      'List and revoke sessions of browsers: those of the own key, or with an admin key all of ' +
        'the tenant.',
    );
  sessions
    .command('list')
    .description('List live sessions, the last used first.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).sessions.list();
      if (out.json) return out.document({ sessions: found });
      if (found.length === 0) return out.note('No sessions.');
      const rows = found.map((session) => row(session, cli.clock.now()));
      out.table(columns([HEADER, ...rows], out.width));
    });
  sessions
    .command('revoke')
    .description('End a session, on all servers within a second.')
    .argument('<id>', 'the id of the session')
    .action(async (id: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      await clientOf(cli, command).sessions.revoke(id);
      if (out.json) out.document({ sessionId: id, status: 'revoked' });
      else out.lines([id]);
    });
}

const HEADER = ['ID', 'USED', 'AGE', 'USER', 'SCOPES', 'ADDRESS'];

function row(session: Session, now: Date): string[] {
  const { sessionId, seenAt, createdAt, scopes, address } = session;
  const since = (at: string) => age(now.getTime() - Date.parse(at));
  return [
    sessionId,
    since(seenAt),
    since(createdAt),
    whose(session),
    scopes.join(),
    address ?? '-',
  ];
}

function whose({ user, keyId, keyName }: Session): string {
  return user ? (user.email ?? user.name ?? user.subject) : `key ${keyName ?? keyId}`;
}
