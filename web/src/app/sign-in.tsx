import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { beginSession } from '../api/begin-session.ts';
import { ProblemError, refusalText } from '../api/problem-error.ts';
import { signInQuery } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Command } from '../parts/copy-button.tsx';
import { Screen } from '../parts/screen.tsx';
import { dashboardPath } from '../runtime/urls.ts';

export function SignIn() {
  const { data: ways } = useQuery(signInQuery());
  return (
    <Screen title="Sign in">
      {ways?.sso && <WithSso url={ways.sso.url} />}
      <WithKey />
    </Screen>
  );
}

/** Leads to the identity provider, and from there back to this page. */
function WithSso({ url }: { url: string }) {
  const to = `/ui/${dashboardPath()}`;
  return (
    <div className="panel sign-in">
      <a className="button primary" href={`${url}?${new URLSearchParams({ to }).toString()}`}>
        Sign in with SSO
      </a>
      <p className="soft">Your organization’s sign-in page opens.</p>
    </div>
  );
}

function WithKey() {
  const [key, setKey] = useState('');
  const begin = useChange(
    async () => await session.duringSignIn(async () => await beginSession(key)),
    () => 'Signed in.',
    { inForm: true },
  );
  // What the server says about a wrong key is meant for programs.
  const { error } = begin;
  const isWrong = error instanceof ProblemError && error.status === 401;
  const refusal = isWrong ? 'This key is not valid.' : refusalText(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate(undefined);
  };
  return (
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
      {refusal !== null && (
        <p className="wrong" role="alert">
          {refusal}
        </p>
      )}
      <button type="submit" className="primary" disabled={begin.isPending}>
        Sign in
      </button>
      <div className="soft">
        <p>No key? Create one on the server:</p>
        <Command text="npx longshore keys create --scope admin --name me" />
      </div>
    </form>
  );
}
