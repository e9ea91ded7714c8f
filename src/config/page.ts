import { CONFIG_FILE } from './config-file.ts';
import { describeKind } from './parse.ts';
import { CHILD_VARIABLES, fileVariantOf, flagOf, type Setting, SETTINGS } from './schema.ts';

/** docs/configuration.md, written by `node scripts/config-docs.ts`; a test fails if it is stale. */
export function configurationPage(): string {
  return [
    '# Configuration',
    '',
    '<!-- Written by `node scripts/config-docs.ts` from src/config/schema.ts: do not edit. -->',
    '',
    'Every setting has a default, so none is needed to start. Flags win over the environment, the',
    `environment over the optional file \`${CONFIG_FILE}\` in the working directory, and that over`,
    'the defaults. `longshore config` prints the values in force and where each came from.',
    '',
    '## Server',
    '',
    ...table('server'),
    '',
    '## Client',
    '',
    ...table('client'),
    '',
    '## Rules',
    '',
    '- A mistake is refused, not guessed: unknown flags, unknown `LONGSHORE_*` variables, unknown',
    '  keys of the file and values out of range stop the start, all reported together.',
    '- A variable that is set but empty counts as not set.',
    '- Secrets have no flag, because everybody on the machine can read the command line. Put them',
    '  in the environment, or in a file whose path is in the `_FILE` variant. In the optional file they',
    '  are refused while other users may read it (`chmod 600`).',
    '- When a setting and its alias are both set, the setting wins.',
    '- Relative paths start at the working directory.',
    `- ${CHILD_VARIABLES.map((name) => `\`${name}\``).join(', ')} are set by Longshore`,
    '  for the commands it runs. They are no settings.',
    '- What Kubernetes sets for a Service called `longshore…` (`LONGSHORE_SERVICE_HOST`,',
    '  `LONGSHORE_PORT=tcp://…`) is ignored.',
    '',
    `An example of \`${CONFIG_FILE}\`:`,
    '',
    '```json',
    '{ "port": 4500, "jobs": "./src/jobs", "concurrency": 16 }',
    '```',
    '',
  ].join('\n');
}

function table(group: Setting['group']): string[] {
  return [
    '| Environment | Flag | File | Default | Meaning |',
    '|---|---|---|---|---|',
    ...SETTINGS.filter((setting) => setting.group === group).map(row),
  ];
}

function row(setting: Setting): string {
  const names = [setting.env, fileVariantOf(setting), ...(setting.aliases ?? [])];
  const environment = names.filter((name) => name !== null).map((name) => `\`${name}\``);
  const flag = flagOf(setting);
  return [
    '',
    ` ${environment.join(', ')} `,
    flag === null ? ' (secret) ' : ` \`${flag}\` `,
    ` \`${setting.key}\` `,
    ` ${setting.fallbackText} `,
    ` ${setting.meaning}${limits(setting)} `,
    '',
  ].join('|');
}

function limits({ kind }: Setting): string {
  if (kind.type === 'integer') return ` From ${kind.min} to ${kind.max}.`;
  return kind.type === 'choice' ? ` It is ${describeKind(kind)}.` : '';
}
