import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { DefinitionChange } from '../../../../src/core/deployment/difference.ts';
import {
  isRejecting,
  type SchemaCheck,
  schemaSentences,
} from '../../../../src/core/deployment/schema-check.ts';
import { deploymentsQuery, differenceQuery } from '../../api/deployment-queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { changeWords } from '../../words/queues/deployment-words.ts';

/** What differs from what new jobs get now, or from another deployment. */
export function DifferencePanel({ number }: { number: number }) {
  const [against, setAgainst] = useState<number | null>(null);
  const { data: difference, error } = useQuery(differenceQuery(number, against));
  return (
    <Panel
      title="Definitions"
      aside={<Against number={number} against={against} onChange={setAgainst} />}
      flush
    >
      {difference === undefined ? (
        <Waiting error={error} />
      ) : (
        <>
          {difference.schemaChecks.map((check) => (
            <SchemaNotice key={check.key} check={check} />
          ))}
          <ChangeTable changes={difference.changes} />
        </>
      )}
    </Panel>
  );
}

function Against({
  number,
  against,
  onChange,
}: {
  number: number;
  against: number | null;
  onChange: (against: number | null) => void;
}) {
  const id = useId();
  const { data: deployments = [] } = useQuery(deploymentsQuery(undefined));
  const others = deployments.filter((one) => one.number !== number);
  return (
    <>
      <label htmlFor={id}>compared with</label>{' '}
      <select
        id={id}
        value={against ?? ''}
        onChange={(event) => onChange(Number(event.target.value) || null)}
      >
        <option value="">what new jobs get now</option>
        {others.map((one) => (
          <option key={one.number} value={one.number}>
            deployment {one.number}
          </option>
        ))}
      </select>
    </>
  );
}

/** Says which waiting jobs and schedules the new schema of a definition would reject. */
function SchemaNotice({ check }: { check: SchemaCheck }) {
  const sentences = schemaSentences(check);
  if (sentences.length === 0) return null;
  return (
    <div className={isRejecting(check) ? 'pad rejects' : 'pad soft'} role="status">
      {check.key}: {sentences.join('; ')}.
      {check.misfits.length > 0 && (
        <ul>
          {check.misfits.map(({ kind, id, reason }) => (
            <li key={id}>
              {kind === 'job' ? (
                <Link to="/jobs/$jobId" params={{ jobId: id }}>
                  {kind} {id}
                </Link>
              ) : (
                <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
                  {kind} {id}
                </Link>
              )}
              : {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function ChangeTable({ changes }: { changes: readonly DefinitionChange[] }) {
  return (
    <Rows
      caption="Definitions"
      rows={changes}
      keyOf={({ key }) => key}
      columns={[
        {
          title: 'Definition',
          titled: 'in-head',
          cell: ({ key }) => (
            <Link to="/definitions/$key" params={{ key }} className="row-link whole-word" data-row>
              {key}
            </Link>
          ),
        },
        { title: 'Difference', kind: 'wide', cell: (change) => changeWords(change) },
      ]}
    />
  );
}
