import { actorWords } from '../../../../src/core/identity/actor.ts';
import { useId, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { DefinitionLimitsView } from '../../../../src/core/queue/limit-view.ts';
import { LIMIT_NAMES, type Limits, type LimitsChange } from '../../../../src/core/queue/limits.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import {
  LIMIT_TITLES,
  readLimits,
  settingWords,
  typedLimits,
} from '../../words/queues/limit-words.ts';

/** Limits of the definition: from the code and as overridden. */
export function LimitsPanel({ definition: { key, limits } }: { definition: PublishedDefinition }) {
  const [asking, setAsking] = useState(false);
  const { effective, code, override, changedBy, changedAt, inUse } = limits;
  return (
    <Panel
      title="Limits"
      aside={
        <Allowed scope="operate" ofDefaultTenant>
          <button type="button" className="small" onClick={() => setAsking(true)}>
            Change…
          </button>
        </Allowed>
      }
    >
      <Facts
        facts={[
          ...LIMIT_NAMES.map((name) => {
            const said =
              override[name] === undefined ? '' : ` (in code: ${settingWords(name, code)})`;
            return [LIMIT_TITLES[name], `${settingWords(name, effective)}${said}`] as const;
          }),
          ['In use', effective.concurrencyLimit === null ? null : inUse],
          ['Changed', changedAt && <Changed by={changedBy} at={changedAt} />],
        ]}
      />
      {asking && (
        <LimitsDialog definitionKey={key} limits={limits} onClose={() => setAsking(false)} />
      )}
    </Panel>
  );
}

function Changed({ by, at }: { by: string | null; at: string }) {
  return (
    <>
      <Moment at={at} /> {by !== null && `by ${actorWords(by)}`}
    </>
  );
}

function LimitsDialog({
  definitionKey,
  limits: { code, override },
  onClose,
}: {
  definitionKey: string;
  limits: DefinitionLimitsView;
  onClose: () => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState(() => typedLimits(override));
  const [wrong, setWrong] = useState<{ field: keyof Limits; wrong: string } | null>(null);
  const change = useAsked(
    async (body: LimitsChange) =>
      await call<object>('PATCH', `/v1/definitions/${encodeURIComponent(definitionKey)}/limits`, {
        body,
      }),
    () => 'Limits saved.',
  );
  const confirm = () => {
    const read = readLimits(typed);
    if ('wrong' in read) {
      setWrong(read);
      return 'stay' as const;
    }
    return change(read.change);
  };
  return (
    <Ask
      title={`Limits of ${definitionKey}`}
      confirm="Save"
      tone="primary"
      labels={LIMIT_TITLES}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p className="soft">
        Leave empty to use the code’s value; “none” removes the limit. Limits apply at once to all
        workers.
      </p>
      {LIMIT_NAMES.map((name) => (
        <div key={name} className="field">
          <label htmlFor={`${id}-${name}`}>{LIMIT_TITLES[name]}</label>
          <input
            id={`${id}-${name}`}
            value={typed[name]}
            autoComplete="off"
            placeholder={`in code: ${settingWords(name, code)}`}
            aria-invalid={wrong?.field === name}
            aria-describedby={`${id}-wrong`}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
          />
        </div>
      ))}
      <p id={`${id}-wrong`} role="alert" className="wrong">
        {wrong && `${LIMIT_TITLES[wrong.field]}: ${wrong.wrong}.`}
      </p>
    </Ask>
  );
}
