import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { AUDIT_SINCE_DEFAULT, type AuditAsked, type AuditSince } from '../../api/admin-queries.ts';
import { actorWords } from '../../../../src/core/identity/actor.ts';

/** Filters by a whole value; a link in the table sets one. */
export const EXACT = { actor: 'Actor', action: 'Action', subject: 'Subject' } as const;
type Field = keyof typeof EXACT;

export const SINCE: Record<AuditSince, string> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
};

/** A text, a period, and the filters that links have set. */
export function AuditFilters({ search }: { search: AuditAsked }) {
  const navigate = useNavigate();
  const [text, setText] = useState(search.q ?? '');
  const { cursor: _cursor, ...kept } = search;
  const show = (next: AuditAsked) => void navigate({ to: '/audit', search: next });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { q: _q, ...others } = kept;
    show(text.trim() === '' ? others : { ...others, q: text.trim() });
  };
  return (
    <form className="filters" role="search" onSubmit={submit}>
      <label className="search">
        <span className="visually-hidden">Search the audit log</span>
        <input
          type="search"
          value={text}
          placeholder="Text in the actor, action, subject or change"
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <label>
        <span className="visually-hidden">Period</span>
        <select
          value={search.since ?? AUDIT_SINCE_DEFAULT}
          onChange={({ target }) => show({ ...kept, since: target.value as AuditSince })}
        >
          {Object.entries(SINCE).map(([since, words]) => (
            <option key={since} value={since}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Find</button>
      {(Object.keys(EXACT) as Field[]).map((name) => {
        const { [name]: value, ...less } = kept;
        if (value === undefined) return null;
        const words = `${EXACT[name]}: ${name === 'actor' ? actorWords(value) : value}`;
        return (
          <Link
            key={name}
            to="/audit"
            search={less}
            className="button"
            aria-label={`Remove the filter ${words}`}
          >
            {words} ×
          </Link>
        );
      })}
    </form>
  );
}
