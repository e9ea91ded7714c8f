import { useId } from 'react';
import type { Field } from '../../../../src/core/form/schema-form.ts';

/** One input of the params form: label, input, description or error. */
export function ParamField({
  field,
  value,
  wrong,
  onChange,
}: {
  field: Field;
  value: string;
  wrong: string | undefined;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const about = `${id}-about`;
  const shared = {
    id,
    value,
    required: field.required,
    'aria-invalid': wrong !== undefined,
    'aria-describedby': about,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label}
        {field.required && <span className="must">required</span>}
      </label>
      <Input field={field} shared={shared} />
      <p id={about} className={wrong === undefined ? 'about' : 'wrong'}>
        {wrong ?? field.about}
      </p>
    </div>
  );
}

interface Shared {
  id: string;
  value: string;
  required: boolean;
  'aria-invalid': boolean;
  'aria-describedby': string;
  onChange: (event: { target: { value: string } }) => void;
}

function Input({ field, shared }: { field: Field; shared: Shared }) {
  switch (field.kind) {
    case 'text':
      return <input type="text" spellCheck={false} autoComplete="off" {...shared} />;
    case 'number':
      return <input type="text" inputMode="decimal" autoComplete="off" {...shared} />;
    case 'boolean':
      return <Choice shared={shared} choices={['true', 'false']} />;
    case 'choice':
      return <Choice shared={shared} choices={field.choices} />;
    case 'json':
      return <textarea rows={2} spellCheck={false} placeholder="JSON" {...shared} />;
    case 'mixed':
      return <textarea rows={2} spellCheck={false} placeholder="text or JSON" {...shared} />;
  }
}

function Choice({ shared, choices }: { shared: Shared; choices: readonly string[] }) {
  return (
    <select {...shared}>
      <option value="">not set</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}
