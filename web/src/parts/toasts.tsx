import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createCell } from '../runtime/cell.ts';
import { Icon } from './icon.tsx';

/** Short messages in the corner. Success messages disappear; errors stay until dismissed. */
interface Toast {
  id: number;
  tone: 'good' | 'bad';
  text: string;
  atMs: number;
}

const SUCCESS_SHOWN_MS = 5_000;
const TOASTS_MAX = 4;
const JUST_NOW_MS = 1_000;

const shown = createCell<readonly Toast[]>([]);
let lastId = 0;

export const toasts = {
  add(tone: Toast['tone'], text: string): void {
    lastId += 1;
    const id = lastId;
    const others = shown.get().filter((one) => one.text !== text);
    shown.set([...others, { id, tone, text, atMs: performance.now() } as const].slice(-TOASTS_MAX));
    if (tone === 'good') setTimeout(() => toasts.dismiss(id), SUCCESS_SHOWN_MS);
  },
  /** On the way to another page. A message of the change that led there stays. */
  leavePage(): void {
    const youngest = performance.now() - JUST_NOW_MS;
    shown.set(shown.get().filter(({ atMs }) => atMs > youngest));
  },
  dismiss(id: number): void {
    shown.set(shown.get().filter((one) => one.id !== id));
  },
};

export function Toasts() {
  const all = shown.use();
  const page = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => toasts.leavePage(), [page]);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map(({ id, tone, text }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <p>{text}</p>
          <button type="button" className="quiet" onClick={() => toasts.dismiss(id)}>
            <Icon name="cross" />
            <span className="visually-hidden">Dismiss</span>
          </button>
        </div>
      ))}
    </div>
  );
}
