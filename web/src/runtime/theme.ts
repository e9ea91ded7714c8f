import { preference } from './preference.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

export const theme = preference('theme', THEMES);

/** The style sheet reads the theme from the root element; `system` leaves it to the browser. */
export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

applyTheme();
theme.subscribe(applyTheme);
