import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from '@tanstack/react-router';
import type { Scope } from '../../../src/core/access/scope.ts';
import { useConnection } from '../api/connection.ts';
import { errorText, isRefused, UNREACHABLE } from '../api/problem-error.ts';
import { useSession } from '../api/use-may.ts';
import { environment } from '../runtime/environment.ts';
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
    document.title = [environment?.name, title, 'Longshore'].filter(Boolean).join(' · ');
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

/** Shown while data loads, or the error if it failed, with a way out of an address without a thing. */
export function Waiting({ error }: { error: Error | null }) {
  const isLost = useConnection() === 'lost';
  const screen = useLocation({ select: ({ pathname }) => pathname.split('/')[1] ?? '' });
  if (error === null && !isLost) return <p className="soft pad">Loading…</p>;
  if (isRefused(error) && error.status === 404) {
    return (
      <Empty title={errorText(error)}>
        <p>It may have been deleted, or the address is incomplete.</p>
        <p>
          <Link to={`/${screen}` as '/jobs'}>Back to {screen}</Link> · <Link to="/">Overview</Link>
        </p>
      </Empty>
    );
  }
  return (
    <div className="notice bad" role="alert">
      <Icon name="alert" />
      <p>{error === null ? UNREACHABLE : errorText(error)}</p>
    </div>
  );
}

/** A screen whose only purpose is a change that the session may not make. */
export function NoAccess({ scope }: { scope: Scope }) {
  const isUser = (useSession()?.user ?? null) !== null;
  return (
    <Empty
      title={
        isUser
          ? `Your groups do not give you the scope ${scope}.`
          : `Your key lacks the scope ${scope}.`
      }
    />
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
