import { useId } from 'react';

interface FieldProps {
  label: string;
  value: string;
  about?: string | undefined;
  wrong: string | undefined;
  onChange: (value: string) => void;
}

/** A labelled input with its description, or with what is wrong. */
export function TextField({
  label,
  about,
  wrong,
  onChange,
  kind = 'text',
  mono = false,
  ...input
}: FieldProps & { kind?: 'text' | 'datetime-local'; mono?: boolean; list?: string }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={kind}
        className={mono ? 'mono' : undefined}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.target.value)}
        {...input}
      />
      <About id={`${id}-about`} about={about} wrong={wrong} />
    </div>
  );
}

/** A choice between the policies of the API, each in words. */
export function SelectField({
  label,
  about,
  wrong,
  value,
  words,
  onChange,
}: FieldProps & { words: Readonly<Record<string, string>> }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.target.value)}
      >
        {Object.entries(words).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      <About id={`${id}-about`} about={about} wrong={wrong} />
    </div>
  );
}

function About({
  id,
  about,
  wrong,
}: {
  id: string;
  about: string | undefined;
  wrong: string | undefined;
}) {
  return (
    <p id={id} className={wrong === undefined ? 'about' : 'wrong'}>
      {wrong ?? about}
    </p>
  );
}
