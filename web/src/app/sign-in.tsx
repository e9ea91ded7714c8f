import { type FormEvent, useState } from 'react';
import { beginSession } from '../api/begin-session.ts';
import { session } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Command } from '../parts/copy-button.tsx';
import { Screen } from '../parts/screen.tsx';

export function SignIn() {
  const [key, setKey] = useState('');
  const begin = useChange(
    async () => await session.duringSignIn(async () => await beginSession(key)),
    () => 'Signed in.',
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate(undefined);
  };
  return (
    <Screen title="Sign in">
      <form className="panel sign-in" onSubmit={submit}>
        <label className="field">
          <span>API key</span>
          <input
            type="password"
            autoComplete="current-password"
            required
            value={key}
            placeholder="lsk_…"
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={begin.isPending}>
          Sign in
        </button>
        <div className="soft">
          <p>No key? Create one on the server:</p>
          <Command text="npx longshore keys create --scope admin --name me" />
        </div>
      </form>
    </Screen>
  );
}
