/** The order of the docs pages, and their folder below `docs/`. A test compares it with the files. */
export const DOCS_CONTENTS: readonly {
  group: string;
  folder?: string;
  pages: readonly string[];
}[] = [
  { group: 'Getting started', pages: ['quick-start', 'concepts', 'comparison'] },
  {
    group: 'Jobs',
    pages: [
      'writing-jobs',
      'ready-made-jobs',
      'deployments',
      'secrets',
      'enqueueing',
      'message-brokers',
      'transactions',
      'schedules',
      'limits',
      'failures',
      'cancelling',
      'waiting',
      'isolation',
      'sdk',
      'testing',
    ],
  },
  {
    group: 'Guides',
    folder: 'guides/',
    pages: [
      'dependencies',
      'children',
      'batches',
      'grouping',
      'debounce',
      'streams',
      'evolving-params',
      'large-values',
    ],
  },
  {
    group: 'Moving here',
    folder: 'moving/',
    pages: ['from-bullmq', 'from-pg-boss', 'from-sidekiq'],
  },
  {
    group: 'Operating',
    folder: 'operate/',
    pages: [
      'operating',
      'deploying',
      'scaling',
      'capacity',
      'remote-workers',
      'security',
      'sign-in',
      'webhooks',
      'dashboard',
      'mcp',
      'alerts',
      'usage',
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

/** The path of each page. Its URL is the name of its file. */
export const DOCS_PAGES: readonly string[] = DOCS_CONTENTS.flatMap(({ folder = '', pages }) =>
  pages.map((name) => `${folder}${name}`),
);
