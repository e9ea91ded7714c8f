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
    'Every setting has a default. Flags override the environment; the environment overrides the optional',
    `file \`${CONFIG_FILE}\` in the working directory; the file overrides the defaults.`,
    '`longshore config` prints the effective values and the source of each.',
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
    '- Unknown flags, unknown `LONGSHORE_*` variables, unknown keys of the file and values out of range',
    '  stop the start. All mistakes are reported together.',
    '- An empty variable counts as not set.',
    '- Secrets have no flag, because every user of the machine can read the command line. Put them in the',
    '  environment, or in a file whose path is in the `_FILE` variant. In the optional file they are',
    '  refused while other users may read it (`chmod 600`).',
    '- When a setting and its alias are both set, the setting wins.',
    '- Relative paths start at the working directory.',
    `- Longshore sets ${CHILD_VARIABLES.map((name) => `\`${name}\``).join(', ')} for the commands`,
    '  it runs. They are not settings.',
    '- The variables that Kubernetes sets for a Service named `longshore…` (`LONGSHORE_SERVICE_HOST`,',
    '  `LONGSHORE_PORT=tcp://…`) are ignored.',
    '',
    `Example of \`${CONFIG_FILE}\`:`,
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
  return kind.type === 'choice' ? ` Must be ${describeKind(kind)}.` : '';
}
