import type { IconName } from '../parts/icon.tsx';

/** The screens that the menu leads to. `key` after `g` goes there by keyboard. */
export const NAV = [
  { to: '/jobs', title: 'Jobs', icon: 'jobs', key: 'j' },
] as const satisfies readonly { to: string; title: string; icon: IconName; key: string }[];
