import { type ReactNode, useEffect } from 'react';
import { errorText } from '../api/problem-error.ts';
import { Icon } from './icon.tsx';

/** Frame of every screen: page title, heading, actions. */
export function Screen({
  title,
  heading = title,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Longshore`;
  }, [title]);
  return (
    <>
      <div className="screen-head">
        <h1>{heading}</h1>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** Shown while data loads, or the error if it failed. */
export function Waiting({ error }: { error: Error | null }) {
  if (error === null) return <p className="soft pad">Loading…</p>;
  return (
    <div className="notice bad" role="alert">
      <Icon name="alert" />
      <p>{errorText(error)}</p>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
