import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { preference } from '../runtime/preference.ts';
import { NAV } from './nav.ts';

/** Single-key shortcuts disturb speech input, so they can be switched off. */
export const singleKeys = preference('single-keys', ['on', 'off']);

const SECOND_KEY_MS = 1_500;

/**
 * Shortcuts of all screens: `/` search, `g` and a letter to go to a screen, `j` and `k` to move,
 * `?` for help.
 */
export function useShortcuts(): { helping: boolean; setHelping: (helping: boolean) => void } {
  const navigate = useNavigate();
  const [helping, setHelping] = useState(false);

  useEffect(() => {
    let wentAtMs = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (singleKeys.read() === 'off' || document.querySelector('dialog[open]')) return;
      const goes = event.timeStamp - wentAtMs < SECOND_KEY_MS;
      wentAtMs = event.key === 'g' && !goes ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const target = goes ? NAV.find(({ key }) => key === event.key) : undefined;
      if (target) void navigate({ to: target.to });
      else if (event.key === '/') search();
      else if (event.key === '?') setHelping(true);
      else if (event.key === 'j') walk(1);
      else if (event.key === 'k') walk(-1);
      else return;
      event.preventDefault();
    };
    const search = () => {
      const field = document.querySelector<HTMLInputElement>('#search');
      if (field) field.select();
      else
        void navigate({ to: '/jobs' }).then(() =>
          document.querySelector<HTMLInputElement>('#search')?.focus(),
        );
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
  return { helping, setHelping };
}

/** Moves the focus between row links, so Enter opens a row and screen readers announce it. */
function walk(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at < 0 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[Math.max(0, Math.min(next, rows.length - 1))]?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
  );
}
