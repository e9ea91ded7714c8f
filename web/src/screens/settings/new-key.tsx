import { useState } from 'react';
import {
  FIRST_KEY_NEEDS_ADMIN,
  SCOPE_NAMES,
  SCOPES,
  type Scope,
} from '../../../../src/core/access/scope.ts';
import { beginSession } from '../../api/begin-session.ts';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Choices } from '../../parts/choices.tsx';
import { now } from '../../runtime/clock.ts';
import type { MadeKey } from './keys-panel.tsx';

const DAY_MS = 24 * 3_600_000;
const LIVES = { '': 'Never', '30': '30 days', '90': '90 days', '365': '1 year' } as const;

export function NewKey({
  isFirst,
  onMade,
  onClose,
}: {
  /** The first key locks an open server, so it defaults to all scopes. */
  isFirst: boolean;
  onMade: (made: MadeKey) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(isFirst ? ['admin'] : ['jobs:read']);
  const [days, setDays] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const make = useAsked(
    async () => {
      const expiresAt =
        days === '' ? null : new Date(now().getTime() + Number(days) * DAY_MS).toISOString();
      const create = async () =>
        await call<MadeKey>('POST', '/v1/keys', { body: { name, scopes, expiresAt } });
      return isFirst ? await createFirst(create, onMade) : await create();
    },
    (made) => {
      if (!isFirst) onMade(made);
      return null;
    },
  );
  const confirm = () => {
    if (name.trim() === '' || scopes.length === 0) {
      setWrong('Enter a name and choose at least one scope.');
      return 'stay' as const;
    }
    if (isFirst && !scopes.includes('admin')) {
      setWrong(FIRST_KEY_NEEDS_ADMIN);
      return 'stay' as const;
    }
    return make(undefined);
  };
  return (
    <Ask
      title="Create an API key"
      confirm="Create"
      tone="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      {isFirst && (
        <p className="wrong">
          This is the first key. Everyone, including you, will need a key to sign in. This browser
          is signed in with it.
        </p>
      )}
      <label className="field">
        <span>Name</span>
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <Choices
        legend="Scopes"
        names={SCOPE_NAMES}
        words={SCOPES}
        chosen={scopes}
        onChange={setScopes}
      />
      <label className="field">
        <span>Expires</span>
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

/**
 * The first key locks the server, for this browser too. So the browser signs in with it in the same
 * step, and the key is shown before anything else can fail.
 */
async function createFirst(
  create: () => Promise<MadeKey>,
  onMade: (made: MadeKey) => void,
): Promise<MadeKey> {
  return await session.duringSignIn(async () => {
    const made = await create();
    onMade(made);
    await beginSession(made.key);
    return made;
  });
}
