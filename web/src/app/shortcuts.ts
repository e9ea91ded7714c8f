import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { preference } from '../runtime/preference.ts';
import { NAV } from './nav.ts';

/** Single-key shortcuts disturb speech input, so they can be switched off. */
export const singleKeys = preference('single-keys', ['on', 'off']);

const SECOND_KEY_MS = 1_500;

/**
 * Shortcuts of all screens: Ctrl-K or Cmd-K opens the palette, also while typing; `/` search, `g`
 * and a letter to go to a screen, `j` and `k` to move, `x` to select, `?` for help.
 */
export function useShortcuts() {
  const navigate = useNavigate();
  const [helping, setHelping] = useState(false);
  const [commanding, setCommanding] = useState(false);

  useEffect(() => {
    let wentAtMs = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        if (!document.querySelector('dialog[open]')) setCommanding(true);
        event.preventDefault();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (singleKeys.get() === 'off' || document.querySelector('dialog[open]')) return;
      const goes = event.timeStamp - wentAtMs < SECOND_KEY_MS;
      wentAtMs = event.key === 'g' && !goes ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const target = goes ? NAV.find(({ key }) => key === event.key) : undefined;
      if (target) void navigate({ to: target.to });
      else if (event.key === '/') search();
      else if (event.key === '?') setHelping(true);
      else if (event.key === 'j') walk(1);
      else if (event.key === 'k') walk(-1);
      else if (event.key === 'x' || event.key === 'X') pick(event.shiftKey);
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
  return { helping, setHelping, commanding, setCommanding };
}

/** Moves the focus between row links, so Enter opens a row and screen readers announce it. */
function walk(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at < 0 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[Math.max(0, Math.min(next, rows.length - 1))]?.focus();
}

/** Selects the focused row; with Shift, the rows from the last selected one. */
function pick(shiftKey: boolean): void {
  const row = document.activeElement?.closest('tr');
  const box = row?.querySelector<HTMLElement>('input[type=checkbox]');
  box?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey }));
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  );
}
