import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { waitStep } from '../../../../src/core/job/signal.ts';
import { call } from '../../api/call.ts';
import { stepsQuery } from '../../api/queries.ts';
import { ProblemError } from '../../api/problem-error.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { copyText } from '../../runtime/copy.ts';
import { decisionOf } from '../../../../src/core/form/decision.ts';
import { fieldsOf, paramsOf, readJson, type Typed } from '../../../../src/core/form/schema-form.ts';
import { ParamField } from '../definitions/param-field.tsx';
import { Complaints, type Wrong } from '../definitions/params-input.tsx';

interface NewLink {
  url: string;
  expiresAt: string;
}

/** The form for the signal that a job waits for. Its fields come from the schema of the wait. */
export function SignalPanel({ job, signal }: { job: JobView; signal: string }) {
  const { data, error } = useQuery(stepsQuery(job.jobId, job));
  if (!useMay('jobs:write')) return null;
  if (!data) return <Waiting error={error} />;
  const wait = data.steps.find(({ name }) => name === waitStep(signal))?.value;
  const schema = (wait as { schema?: unknown } | undefined)?.schema ?? null;
  return <SignalForm job={job} signal={signal} schema={schema} />;
}

function SignalForm({ job, signal, schema }: { job: JobView; signal: string; schema: unknown }) {
  const fields = fieldsOf(schema);
  const decision = decisionOf(fields ?? []);
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries((fields ?? []).map(({ pointer, initial }) => [pointer, initial])),
  );
  const [json, setJson] = useState('null');
  const [wrong, setWrong] = useState<Wrong>({});
  const path = `/v1/jobs/${job.jobId}/signals/${encodeURIComponent(signal)}`;
  const send = useChange(
    async (payload: unknown) => await call('POST', path, { body: { payload } }),
    () => 'Signal sent.',
    // Another person may have decided meanwhile; then there is no form left to say so.
    { inForm: 'fields' },
  );
  const link = useChange(
    async () => {
      const made = await call<NewLink>('POST', `${path}/links`, { body: {} });
      // Where the browser does not allow it, the link below has a button of its own.
      await copyText(made.url).catch(() => undefined);
      return made;
    },
    () => 'Link copied.',
  );
  const submit = (decided: string | null) => {
    const values = decision && decided ? { ...typed, [decision.pointer]: decided } : typed;
    const read = fields === null ? jsonPayload(json) : paramsOf(fields, values);
    if ('wrong' in read) return setWrong({ [read.pointer]: read.wrong });
    setWrong({});
    send.mutate(read.params, { onError: (problem) => setWrong(wrongOf(problem)) });
  };
  const shown = (fields ?? []).filter((field) => field !== decision);
  return (
    <Panel title={`Signal ${signal}`}>
      <form
        className="run"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          // Enter in a field decides nothing: a decision is made by a button.
          if (!decision) submit(null);
        }}
      >
        {shown.map((field) => (
          <ParamField
            key={field.pointer}
            field={field}
            value={typed[field.pointer] ?? ''}
            wrong={wrong[field.pointer]}
            onChange={(value) => setTyped({ ...typed, [field.pointer]: value })}
          />
        ))}
        {fields === null && (
          <label className="field">
            <span>Payload as JSON</span>
            <textarea
              rows={3}
              spellCheck={false}
              value={json}
              onChange={(event) => setJson(event.target.value)}
            />
          </label>
        )}
        <Complaints wrong={wrong} known={shown.map(({ pointer }) => pointer)} />
        <div className="run-foot">
          <button type="button" disabled={link.isPending} onClick={() => link.mutate(undefined)}>
            Copy approval link
          </button>
          <span className="actions">
            {decision && (
              <button type="button" disabled={send.isPending} onClick={() => submit('false')}>
                Reject
              </button>
            )}
            <button
              type={decision ? 'button' : 'submit'}
              className="primary"
              disabled={send.isPending}
              onClick={decision ? () => submit('true') : undefined}
            >
              {decision ? 'Approve' : 'Send signal'}
            </button>
          </span>
        </div>
      </form>
      {link.data && (
        <div className="made-link">
          <p>
            With this link, a person without an account can send the signal once, until{' '}
            <Moment at={link.data.expiresAt} />. It is shown only here.
          </p>
          <Command text={link.data.url} />
        </div>
      )}
    </Panel>
  );
}

function jsonPayload(text: string): { params: unknown } | { pointer: string; wrong: string } {
  const read = readJson(text);
  if ('value' in read) return { params: read.value };
  return { pointer: '', wrong: read.wrong };
}

function wrongOf(error: Error): Wrong {
  if (!(error instanceof ProblemError)) return {};
  return Object.fromEntries(
    error.violations.map(({ pointer, detail }) => [pointer.replace(/^\/payload/, ''), detail]),
  );
}
