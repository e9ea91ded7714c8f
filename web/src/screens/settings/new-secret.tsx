import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { secretNameProblem, type SecretView } from '../../../../src/core/access/secret.ts';
import { call } from '../../api/call.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';

/** Sets a secret, or replaces its value. */
export function NewSecret({ onClose }: { onClose: () => void }) {
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const [name, setName] = useState('');
  const [definitionKey, setDefinitionKey] = useState('');
  const [value, setValue] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const set = useAsked(
    async () =>
      await call<SecretView>('PUT', `/v1/secrets/${name}`, {
        body: { value, definitionKey: definitionKey === '' ? null : definitionKey },
      }),
    () => `${name} set. Jobs that start from now on get it.`,
  );
  const confirm = () => {
    const problem = secretNameProblem(name);
    if (problem !== null || value === '') {
      setWrong(problem === null ? 'Enter a value.' : `The name ${problem}.`);
      return 'stay' as const;
    }
    return set(undefined);
  };
  const keys = [...new Set(definitions.map(({ key }) => key))].sort();
  return (
    <Ask title="Set a secret" confirm="Set" tone="primary" onConfirm={confirm} onClose={onClose}>
      <label className="field">
        <span>Name</span>
        <input
          value={name}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Definition</span>
        <select value={definitionKey} onChange={(event) => setDefinitionKey(event.target.value)}>
          <option value="">All definitions</option>
          {keys.map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Value</span>
        <input
          type="password"
          value={value}
          autoComplete="new-password"
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      <p className="soft">
        For several lines, use <code>npx longshore secrets set --from-file</code>.
      </p>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
