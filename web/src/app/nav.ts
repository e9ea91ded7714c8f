import type { Scope } from '../../../src/core/access/scope.ts';
import type { IconName } from '../parts/icon.tsx';

/**
 * The menu. `g` and `key` opens a screen by keyboard. `needs`: a call that the server must offer.
 * `scope`: what a session must have to read it. `count`: the number shown beside the title.
 */
export const NAV = [
  { to: '/', title: 'Overview', icon: 'overview', key: 'o' },
  { to: '/jobs', title: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/batches', title: 'Batches', icon: 'batches', key: 'c', needs: '/v1/batches' },
  { to: '/errors', title: 'Errors', icon: 'alert', key: 'e' },
  { to: '/dead-letters', title: 'Dead letters', icon: 'letters', key: 'l', count: 'dead' },
  { to: '/schedules', title: 'Schedules', icon: 'schedules', key: 's' },
  { to: '/definitions', title: 'Definitions', icon: 'definitions', key: 'd' },
  {
    to: '/deployments',
    title: 'Deployments',
    icon: 'deployments',
    key: 'p',
    needs: '/v1/deployments',
  },
  { to: '/workers', title: 'Workers', icon: 'workers', key: 'w' },
  { to: '/alerts', title: 'Alerts', icon: 'bell', key: 'r', needs: '/v1/alerts', count: 'firing' },
  { to: '/usage', title: 'Usage', icon: 'usage', key: 'u', needs: '/v1/usage' },
  { to: '/bulk', title: 'Bulk actions', icon: 'bulk', key: 'b' },
  {
    to: '/webhooks',
    title: 'Webhooks',
    icon: 'webhooks',
    key: 'h',
    scope: 'operate',
    count: 'failing',
  },
  { to: '/audit', title: 'Audit', icon: 'audit', key: 'a', scope: 'admin' },
  { to: '/settings', title: 'Settings', icon: 'settings', key: 't' },
] as const satisfies readonly {
  to: string;
  title: string;
  icon: IconName;
  key: string;
  needs?: string;
  scope?: Scope;
  count?: 'dead' | 'firing' | 'failing';
}[];
