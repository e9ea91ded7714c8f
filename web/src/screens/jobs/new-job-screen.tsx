import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { definitionsQuery, jobsQuery } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/use-may.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Empty, NoAccess, Screen, Waiting } from '../../parts/screen.tsx';
import { plainText } from '../../words/jobs/log-tail.ts';
import { newestVersions } from '../../words/queues/definition-words.ts';
import { RunForm } from '../definitions/run-form.tsx';
import { SelectField } from '../schedules/form-fields.tsx';

const route = getRouteApi('/jobs/new');

/** Starts a job: the choice of a definition, and its form. */
export function NewJobScreen() {
  const { definition: asked } = route.useSearch();
  const navigate = useNavigate();
  const { data: definitions, error } = useQuery(definitionsQuery());
  const who = useSession();
  const may = useMay('jobs:write');
  const newest = newestVersions(definitions ?? []);
  const definition = newest.find(({ key }) => key === asked) ?? newest[0];
  const { data: page } = useQuery({
    ...jobsQuery({ definitionKey: definition?.key ?? '', limit: 1 }),
    enabled: definition !== undefined,
  });
  const choose = (key: string) =>
    void navigate({ to: '/jobs/new', search: { definition: key }, replace: true });
  if (definitions === undefined || who === undefined) {
    return (
      <Screen title="New job">
        <Waiting error={error} />
      </Screen>
    );
  }
  if (!may) {
    return (
      <Screen title="New job">
        <NoAccess scope="jobs:write" />
      </Screen>
    );
  }
  if (definition === undefined) {
    return (
      <Screen title="New job">
        <Empty title="No worker has registered a definition yet.">
          <Command text="npx longshore worker --jobs ./jobs" />
        </Empty>
      </Screen>
    );
  }
  return (
    <Screen title="New job">
      <div className="below">
        <SelectField
          label="Definition"
          value={definition.key}
          wrong={undefined}
          words={Object.fromEntries(newest.map(({ key }) => [key, key]))}
          onChange={choose}
        />
        <p className="soft">
          {definition.description && `${plainText(definition.description)} `}
          <Link to="/definitions/$key" params={{ key: definition.key }}>
            About {definition.key}
          </Link>
        </p>
      </div>
      <div className="below">
        <RunForm key={definition.key} definition={definition} latest={page?.jobs[0] ?? null} />
      </div>
    </Screen>
  );
}
