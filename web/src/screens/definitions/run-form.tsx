import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { ProblemError } from '../../api/problem-error.ts';
import { useChange } from '../../api/use-change.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { hiddenIn } from '../../words/jobs/hidden.ts';
import { fieldsOf, paramsOf, readJson, type Typed, typedOf } from '../../words/jobs/schema-form.ts';
import { ParamField } from './param-field.tsx';

/** Errors by JSON pointer into the params; `''` is the whole document. */
type Wrong = Readonly<Record<string, string>>;

/** Form that enqueues a job. Fields come from the schema; anything else is entered as JSON. */
export function RunForm({
  definition,
  latest,
}: {
  definition: PublishedDefinition;
  latest: JobView | null;
}) {
  const navigate = useNavigate();
  const fields = fieldsOf(definition.paramsSchema);
  const [asJson, setAsJson] = useState(fields === null);
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries((fields ?? []).map(({ pointer, initial }) => [pointer, initial])),
  );
  const [json, setJson] = useState('{}');
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
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = asJson || fields === null ? jsonParams(json) : paramsOf(fields, typed);
    if ('wrong' in read) return setWrong({ [read.pointer]: read.wrong });
    const hidden = hiddenIn(read.params);
    if (hidden !== null) return setWrong({ '': hidden });
    setWrong({});
    start.mutate(read.params, { onError: (error) => setWrong(wrongOf(error)) });
  };
  /** Keeps what was typed so far. */
  const write = () => {
    const read = paramsOf(fields ?? [], typed);
    setJson(JSON.stringify('params' in read ? read.params : {}, null, 2));
    setAsJson(true);
  };
  const fill = (params: unknown) => {
    setTyped(typedOf(fields ?? [], params));
    setJson(JSON.stringify(params, null, 2));
  };
  return (
    <Panel
      title="Run"
      aside={
        <>
          {latest && (
            <button type="button" className="small" onClick={() => fill(latest.params)}>
              Copy params of the latest job
            </button>
          )}{' '}
          {fields !== null && (
            <button
              type="button"
              className="small"
              onClick={() => (asJson ? setAsJson(false) : write())}
            >
              {asJson ? 'Edit as form' : 'Edit as JSON'}
            </button>
          )}
        </>
      }
    >
      <form className="run" onSubmit={submit} noValidate>
        {asJson || fields === null ? (
          <label className="field">
            <span>Params as JSON</span>
            <textarea
              rows={6}
              spellCheck={false}
              value={json}
              aria-invalid={Object.keys(wrong).length > 0}
              onChange={(event) => setJson(event.target.value)}
            />
          </label>
        ) : (
          fields.map((field) => (
            <ParamField
              key={field.pointer}
              field={field}
              value={typed[field.pointer] ?? ''}
              wrong={wrong[field.pointer]}
              onChange={(value) => setTyped({ ...typed, [field.pointer]: value })}
            />
          ))
        )}
        <Complaints
          wrong={wrong}
          known={asJson ? [] : (fields ?? []).map(({ pointer }) => pointer)}
        />
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

/** Errors that belong to no visible field. */
function Complaints({ wrong, known }: { wrong: Wrong; known: readonly string[] }) {
  const others = Object.entries(wrong).filter(([pointer]) => !known.includes(pointer));
  return (
    <div role="alert">
      {others.map(([pointer, detail]) => (
        <p key={pointer} className="wrong">
          {pointer === '' ? detail : `${pointer} ${detail}`}
        </p>
      ))}
    </div>
  );
}

function jsonParams(text: string): { params: unknown } | { pointer: string; wrong: string } {
  const read = readJson(text);
  if ('value' in read) return { params: read.value };
  return { pointer: '', wrong: `The text ${read.wrong}.` };
}

function wrongOf(error: Error): Wrong {
  if (!(error instanceof ProblemError)) return {};
  return Object.fromEntries(
    error.violations.map(({ pointer, detail }) => [pointer.replace(/^\/params/, ''), detail]),
  );
}
