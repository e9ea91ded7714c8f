import { DEPLOYMENTS, ON_OFF } from './config.ts';
import { fallback, named, type Setting } from './setting.ts';

/** Settings of deployed code (docs/deployments.md), and of files that jobs store. */
export const DEPLOYMENT_SETTINGS: readonly Setting[] = [
  {
    ...named('deployments', 'LONGSHORE_DEPLOYMENTS', 'server', 'mode'),
    kind: { type: 'choice', choices: DEPLOYMENTS },
    ...fallback('auto'),
    meaning:
      'Whether a worker runs deployed code (docs/deployments.md): `also` besides its folder, `only` ' +
      'instead of it, `off`; `auto` is `also` for `longshore start` and `off` for `longshore worker`.',
  },
  {
    ...named('artifacts', 'LONGSHORE_ARTIFACTS', 'server', 'address'),
    kind: { type: 'text' },
    fallback: ({ data }) => `${data.replace(/\/+$/, '')}/artifacts`,
    fallbackText: '`artifacts` in the data folder',
    meaning:
      'Storage of deployed code: a folder, or `s3://bucket/prefix?endpoint=…&region=…`. The API and ' +
      'all workers with a database connection must reach it.',
  },
  {
    ...named('artifactCache', 'LONGSHORE_ARTIFACT_CACHE', 'server', 'path'),
    kind: { type: 'text' },
    fallback: () => null,
    fallbackText: 'a folder for temporary files',
    meaning: 'Folder in which workers unpack deployed code. Jobs must be able to read it.',
  },
  {
    ...named('artifactKeys', 'LONGSHORE_ARTIFACT_KEYS', 'server', 'keys'),
    kind: { type: 'text' },
    fallback: () => null,
    fallbackText: 'none: signatures are not required',
    meaning:
      'Public keys of which one must have signed deployed code, as `ed25519:…`, separated by commas.',
  },
  {
    ...named('tenantDeploys', 'LONGSHORE_TENANT_DEPLOYS', 'server', 'mode'),
    kind: { type: 'choice', choices: ON_OFF },
    ...fallback('off'),
    meaning: 'Whether tenants may deploy code of their own, with an admin key.',
  },
  {
    ...named('reports', 'LONGSHORE_REPORTS', 'server', 'address'),
    kind: { type: 'text' },
    ...fallback(null, 'none: no reports are served'),
    meaning:
      'Storage of reports (docs/ready-made-jobs.md): a folder, or `s3://bucket/prefix?…`. The API ' +
      'serves links to them and deletes them after their last day.',
  },
  {
    ...named('reportSecret', 'LONGSHORE_REPORT_SECRET', 'server', 'secret'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    secret: true,
    meaning: 'Secret with which jobs sign links to reports (docs/ready-made-jobs.md).',
  },
];
