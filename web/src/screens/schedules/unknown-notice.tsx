import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import {
  type UnknownDefinition,
  unknownDefinition,
  unknownWords,
} from '../../../../src/core/schedule/unknown-definition.ts';
import { definitionsQuery, workersQuery } from '../../api/queries.ts';
import { useMay } from '../../api/use-may.ts';
import { Icon } from '../../parts/icon.tsx';

/** Null while the definitions are being read, and if a worker has registered this one. */
function useUnknown(key: string): UnknownDefinition | null {
  const { data: definitions } = useQuery(definitionsQuery());
  const { data: workers } = useQuery(workersQuery());
  return definitions && workers ? unknownDefinition(key, { definitions, workers }) : null;
}

/** On the list of schedules: the definition and its owner; marked if it is unknown. */
export function DefinitionLine({
  schedule: { definitionKey },
  owner,
}: {
  schedule: ScheduleView;
  /** Undefined while the definitions are being read. */
  owner: string | undefined;
}) {
  const unknown = useUnknown(definitionKey);
  if (unknown === null) {
    return (
      <span className="summary">
        {owner === undefined ? definitionKey : `${definitionKey} · ${owner}`}
      </span>
    );
  }
  return (
    <>
      <span className="badge tone-bad">unknown definition</span>
      <span className="summary">{unknownWords(definitionKey, unknown)}</span>
    </>
  );
}

/** On the page of a schedule. */
export function UnknownNotice({ schedule: { definitionKey, source } }: { schedule: ScheduleView }) {
  const unknown = useUnknown(definitionKey);
  const may = useMay('operate');
  if (unknown === null) return null;
  return (
    <div className="notice bad" role="status">
      <Icon name="alert" />
      <p>
        {unknownWords(definitionKey, unknown)} Its jobs wait until a worker has it.{' '}
        {may && source === 'api' && unknown.nearest !== null && (
          <Link to="/schedules/new" search={{ definition: unknown.nearest }}>
            New schedule of {unknown.nearest}
          </Link>
        )}
      </p>
    </div>
  );
}
