import { type ReactNode, useEffect } from 'react';
import { tellError } from '../api/problem-error.ts';
import { Icon } from './icon.tsx';

/** The frame of every screen: its name in the tab, its heading, and what can be done here. */
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

/** Nothing to show yet, or nothing at all: says which, and what to do. */
export function Waiting({ error }: { error: Error | null }) {
  if (error === null) return <p className="soft pad">Loading…</p>;
  return (
    <div className="notice bad" role="alert">
      <Icon name="alert" />
      <p>{tellError(error)}</p>
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
