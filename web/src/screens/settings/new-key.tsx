import { useState } from 'react';
import { SCOPE_NAMES, SCOPES, type Scope } from '../../../../src/core/scope.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Choices } from '../../parts/choices.tsx';
import { now } from '../../runtime/clock.ts';
import type { MadeKey } from './keys-panel.tsx';

const DAY_MS = 24 * 3_600_000;
const LIVES = { '': 'For good', '30': '30 days', '90': '90 days', '365': 'A year' } as const;

export function NewKey({
  isFirst,
  onMade,
  onClose,
}: {
  /** The first key closes an open server, so it had better open everything. */
  isFirst: boolean;
  onMade: (made: MadeKey) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(isFirst ? ['admin'] : ['jobs:read']);
  const [days, setDays] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const make = useChange(
    async () => {
      const expiresAt =
        days === '' ? null : new Date(now().getTime() + Number(days) * DAY_MS).toISOString();
      return await call<MadeKey>('POST', '/v1/keys', { body: { name, scopes, expiresAt } });
    },
    (made) => {
      onMade(made);
      return null;
    },
  );
  const confirm = () => {
    if (name.trim() === '' || scopes.length === 0) {
      setWrong('It needs a name, and must be allowed something.');
      return 'stay';
    }
    make.mutate(undefined);
    return 'close';
  };
  return (
    <Ask title="Make a key" confirm="Make it" tone="primary" onConfirm={confirm} onClose={onClose}>
      {isFirst && (
        <p className="wrong">
          It is the first one: from now on everybody needs a key, also you, here.
        </p>
      )}
      <label className="field">
        <span>Who or what has it</span>
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <Choices
        legend="It may"
        names={SCOPE_NAMES}
        words={SCOPES}
        chosen={scopes}
        onChange={setScopes}
      />
      <label className="field">
        <span>It lives</span>
        <select value={days} onChange={(event) => setDays(event.target.value)}>
          {Object.entries(LIVES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
