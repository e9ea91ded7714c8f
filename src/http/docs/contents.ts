/** The order of the docs pages. A test compares it with the folder. */
export const DOCS_CONTENTS: readonly { group: string; pages: readonly string[] }[] = [
  { group: 'Begin', pages: ['quick-start', 'concepts', 'comparison'] },
  {
    group: 'Jobs',
    pages: [
      'writing-jobs',
      'enqueueing',
      'transactions',
      'schedules',
      'limits',
      'failures',
      'cancelling',
      'isolation',
      'sdk',
      'testing',
    ],
  },
  {
    group: 'Operating',
    pages: [
      'operating',
      'deploying',
      'scaling',
      'security',
      'webhooks',
      'dashboard',
      'alerts',
      'metrics',
      'logging',
      'tracing',
      'retention',
      'embedded-postgres',
      'poolers',
      'redis',
    ],
  },
  {
    group: 'Reference',
    pages: ['cli', 'configuration', 'errors', 'performance', 'reliability', 'internals', 'seeds'],
  },
];

export const DOCS_PAGES: readonly string[] = DOCS_CONTENTS.flatMap(({ pages }) => pages);
