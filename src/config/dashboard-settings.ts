import { ENVIRONMENT_COLORS } from './config.ts';
import { fallback, named, type Setting } from './setting.ts';

/** What the dashboard shows on every screen. */
export const DASHBOARD_SETTINGS: readonly Setting[] = [
  {
    ...named('environment', 'LONGSHORE_ENVIRONMENT', 'server', 'name'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning:
      'Name of this installation, such as `production`: the dashboard shows it on every screen and in ' +
      'the title of the page.',
  },
  {
    ...named('environmentColor', 'LONGSHORE_ENVIRONMENT_COLOR', 'server', 'color'),
    kind: { type: 'choice', choices: ENVIRONMENT_COLORS },
    fallback: ({ environment }) => (/^prod/i.test(environment ?? '') ? 'red' : 'blue'),
    fallbackText: '`red` for names that begin with `prod`, else `blue`',
    meaning: 'Color of the name in the dashboard.',
  },
];
