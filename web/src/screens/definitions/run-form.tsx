import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { exampleOf } from '../../../../src/core/form/schema-example.ts';
import {
  ParamsInput,
  SwitchMode,
  useParamsDraft,
  type Wrong,
  wrongOf,
  wrongParams,
} from './params-input.tsx';

/** Form that enqueues a job. Fields come from the schema; anything else is entered as JSON. */
export function RunForm({
  definition,
  latest,
}: {
  definition: PublishedDefinition;
  latest: JobView | null;
}) {
  const navigate = useNavigate();
  const example = exampleOf(definition.paramsSchema);
  const draft = useParamsDraft(definition.paramsSchema);
  const [hold, setHold] = useState(false);
  const [wrong, setWrong] = useState<Wrong>({});

  const start = useChange(
    async (params: unknown) =>
      await call<{ jobId: string }>('POST', '/v1/jobs', {
        body: { definitionKey: definition.key, params, ...(hold && { hold }) },
      }),
    ({ jobId }) => {
      void navigate({ to: '/jobs/$jobId', params: { jobId } });
      return 'Job enqueued.';
    },
    { inForm: true },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = draft.read();
    if ('wrong' in read) return setWrong({ [read.pointer]: read.wrong });
    setWrong({});
    start.mutate(read.params, { onError: (error) => setWrong(wrongParams(wrongOf(error))) });
  };
  return (
    <Panel
      title="Run"
      aside={
        <>
          {example && (
            <button type="button" className="small" onClick={() => draft.fill(example)}>
              Fill in example
            </button>
          )}{' '}
          {latest && !latest.largeParams && latest.paramsShape === definition.paramsShape && (
            <button type="button" className="small" onClick={() => draft.fill(latest.params)}>
              Copy params of the latest job
            </button>
          )}{' '}
          <SwitchMode draft={draft} />
        </>
      }
    >
      <form className="run" id="run" onSubmit={submit} noValidate>
        <ParamsInput draft={draft} wrong={wrong} />
        <div className="run-foot">
          <label className="check">
            <input
              type="checkbox"
              checked={hold}
              onChange={(event) => setHold(event.target.checked)}
            />
            Hold until released
          </label>
          <button type="submit" className="primary" disabled={start.isPending}>
            <Icon name="play" />
            Run job
          </button>
        </div>
      </form>
    </Panel>
  );
}
