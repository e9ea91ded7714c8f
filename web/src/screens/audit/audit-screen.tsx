import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { AuditView } from '../../../../src/core/access/audit.ts';
import { isJobId } from '../../../../src/core/job/job-id.ts';
import {
  AUDIT_SINCE_DEFAULT,
  type AuditAsked,
  auditQuery,
  type AuditSince,
} from '../../api/admin-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { actorWords } from '../../../../src/core/identity/actor.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { auditTarget } from '../../words/target.ts';
import { changeWords } from '../../words/access/audit-words.ts';
import { textOf } from '../../words/url-search.ts';
import { AuditFilters, EXACT, SINCE } from './audit-filters.tsx';

const route = getRouteApi('/audit');

export function auditSearch(search: Record<string, unknown>): AuditAsked {
  const names = [...Object.keys(EXACT), 'q', 'cursor'];
  const said = names.map((name) => [name, textOf(search, name)] as const);
  const since = textOf(search, 'since');
  return {
    ...Object.fromEntries(said.filter(([, value]) => value !== undefined)),
    ...(since !== undefined && Object.hasOwn(SINCE, since) && { since: since as AuditSince }),
  };
}

/** Audit log, newest first. */
export function AuditScreen() {
  const search = route.useSearch();
  const { data: page, error } = useQuery(auditQuery(search));
  return (
    <Screen title="Audit">
      <AuditFilters key={JSON.stringify(search)} search={search} />
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.entries.length === 0 ? (
        <NoEntries search={search} />
      ) : (
        <AuditTable entries={page.entries} search={search} />
      )}
      {page && <Pages to="/audit" search={search} nextCursor={page.nextCursor} />}
    </Screen>
  );
}

/** What is older than the period was not searched. */
function NoEntries({ search }: { search: AuditAsked }) {
  const { since = AUDIT_SINCE_DEFAULT } = search;
  return (
    <Empty title="No matching audit entries.">
      {since !== 'all' && (
        <p>
          {SINCE[since]} only.{' '}
          <Link to="/audit" search={{ ...search, since: 'all' }}>
            Search all time
          </Link>
        </p>
      )}
    </Empty>
  );
}

function AuditTable({ entries, search }: { entries: readonly AuditView[]; search: AuditAsked }) {
  const { cursor: _cursor, ...kept } = search;
  return (
    <Rows
      caption="Audit entries"
      rows={entries}
      keyOf={({ id }) => id}
      className="audit"
      columns={[
        { title: 'Time', kind: 'short', titled: 'in-head', cell: ({ at }) => <Moment at={at} /> },
        {
          title: 'Actor',
          titled: 'in-head',
          cell: ({ actor }) => (
            <Link to="/audit" search={{ ...kept, actor }}>
              {actorWords(actor)}
            </Link>
          ),
        },
        {
          title: 'Action',
          kind: 'short',
          titled: 'in-head',
          cell: ({ action }) => (
            <Link to="/audit" search={{ ...kept, action }}>
              {action}
            </Link>
          ),
        },
        {
          title: 'Subject',
          kind: 'short',
          titled: 'in-head',
          cell: (entry) => <Subject entry={entry} />,
        },
        { title: 'Address', kind: 'short', spare: true, cell: ({ address }) => address ?? '–' },
        { title: 'Change', titled: 'in-head', cell: (entry) => <Change {...entry} /> },
      ]}
    />
  );
}

function Subject({ entry }: { entry: AuditView }) {
  const target = auditTarget(entry);
  return (
    <TargetLink target={target} title={entry.subject}>
      {subjectWords(entry.subject)}
    </TargetLink>
  );
}

const SUBJECT_LENGTH = 24;

/** The whole of it is in the tooltip. */
function subjectWords(subject: string): string {
  if (isJobId(subject)) return shortId(subject);
  return subject.length > SUBJECT_LENGTH ? `${subject.slice(0, SUBJECT_LENGTH)}…` : subject;
}

const CHANGE_LENGTH = 400;

function withActor(name: string, value: unknown): unknown {
  return name === 'by' && typeof value === 'string' ? actorWords(value) : value;
}

function Change({ before, after }: Pick<AuditView, 'before' | 'after'>) {
  const text = plainText(changeWords(before, after, withActor));
  if (text === '') return <span className="soft">–</span>;
  return (
    <code className="change">
      {text.length > CHANGE_LENGTH ? `${text.slice(0, CHANGE_LENGTH)}…` : text}
    </code>
  );
}
