import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { definitionsQuery, scheduleQuery } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/use-may.ts';
import { Empty, NoAccess, Screen, Waiting } from '../../parts/screen.tsx';
import { nameOf } from '../../../../src/core/problems/problems.ts';
import { newestVersions } from '../../words/queues/definition-words.ts';
import { SelectField } from './form-fields.tsx';
import { ScheduleForm } from './schedule-form.tsx';

const newRoute = getRouteApi('/schedules/new');
const editRoute = getRouteApi('/schedules/$scheduleId/edit');

export function NewScheduleScreen() {
  const { definition: asked } = newRoute.useSearch();
  const navigate = useNavigate();
  const { data: definitions, error } = useQuery(definitionsQuery());
  const who = useSession();
  const may = useMay('operate');
  const newest = newestVersions(definitions ?? []);
  const definition = newest.find(({ key }) => key === asked) ?? newest[0];
  const choose = (key: string) =>
    void navigate({ to: '/schedules/new', search: { definition: key }, replace: true });
  return (
    <Screen title="New schedule">
      {definitions === undefined || who === undefined ? (
        <Waiting error={error} />
      ) : !may ? (
        <NoAccess scope="operate" />
      ) : definition === undefined ? (
        <Empty title="No worker has registered a definition yet." />
      ) : (
        <ScheduleForm
          key={definition.key}
          definitionKey={definition.key}
          definition={definition}
          schedule={null}
        >
          <SelectField
            label="Definition"
            value={definition.key}
            wrong={undefined}
            words={Object.fromEntries(newest.map(({ key }) => [key, key]))}
            onChange={choose}
          />
        </ScheduleForm>
      )}
    </Screen>
  );
}

export function EditScheduleScreen() {
  const { scheduleId } = editRoute.useParams();
  const { data: schedule, error } = useQuery({
    ...scheduleQuery(scheduleId),
    // The form keeps what is typed; it reads the schedule once.
    refetchInterval: false,
  });
  const { data: definitions, error: noDefinitions } = useQuery(definitionsQuery());
  const who = useSession();
  const may = useMay('operate');
  if (!schedule || !definitions || !who) {
    return (
      <Screen title="Schedule">
        <Waiting error={error ?? noDefinitions} />
      </Screen>
    );
  }
  const key = schedule.definitionKey;
  return (
    <Screen title={`Edit ${nameOf(schedule)}`}>
      {!may ? (
        <NoAccess scope="operate" />
      ) : schedule.source === 'code' ? (
        <Empty title="This schedule comes from the code of its definition.">
          <p>
            Change <code>schedule</code> in the definition {key} and restart its workers.
          </p>
        </Empty>
      ) : (
        <ScheduleForm
          key={schedule.id}
          definitionKey={key}
          definition={newestVersions(definitions).find((one) => one.key === key)}
          schedule={schedule}
        />
      )}
    </Screen>
  );
}
