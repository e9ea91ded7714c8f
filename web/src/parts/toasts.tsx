import { useSyncExternalStore } from 'react';
import { Icon } from './icon.tsx';

/** Short messages in the corner. Success messages disappear; errors stay until dismissed. */
interface Toast {
  id: number;
  tone: 'good' | 'bad';
  text: string;
}

const SUCCESS_SHOWN_MS = 5_000;
const TOASTS_MAX = 4;

let shown: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  shown = next.slice(-TOASTS_MAX);
  for (const listener of listeners) listener();
}

export const toasts = {
  add(tone: Toast['tone'], text: string): void {
    lastId += 1;
    const id = lastId;
    show([...shown.filter((one) => one.text !== text), { id, tone, text }]);
    if (tone === 'good') setTimeout(() => toasts.dismiss(id), SUCCESS_SHOWN_MS);
  },
  dismiss(id: number): void {
    show(shown.filter((one) => one.id !== id));
  },
};

export function Toasts() {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown,
  );
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
