import { useState } from 'react';
import { errorText, isRefused } from '../../api/problem-error.ts';
import { hiddenIn } from '../../words/jobs/hidden.ts';
import {
  type Field,
  fieldsOf,
  holdsWhole,
  type Params,
  paramsOf,
  readJson,
  type Typed,
  typedOf,
} from '../../../../src/core/form/schema-form.ts';
import { ParamField } from './param-field.tsx';

/** Errors by JSON pointer into the params; `''` is the whole document. */
export type Wrong = Readonly<Record<string, string>>;

/** What was typed into the params of a definition, as fields of its schema or as JSON. */
export interface ParamsDraft {
  /** Null if the schema has no fields: the params are JSON. */
  fields: Field[] | null;
  typed: Typed;
  json: string;
  asJson: boolean;
  type: (pointer: string, value: string) => void;
  typeJson: (json: string) => void;
  fill: (params: unknown) => void;
  /** Something was typed since the beginning. */
  changed: boolean;
  /** Keeps what was typed so far. */
  switchMode: () => void;
  read: () => Params;
}

export function useParamsDraft(schema: unknown, initial?: unknown): ParamsDraft {
  const all = fieldsOf(schema);
  const fields = all && initial !== undefined && !holdsWhole(all, initial) ? null : all;
  const [changed, setChanged] = useState(false);
  const [asJson, setAsJson] = useState(fields === null);
  const [typed, setTyped] = useState<Typed>(() =>
    initial === undefined
      ? Object.fromEntries((fields ?? []).map(({ pointer, initial: value }) => [pointer, value]))
      : typedOf(fields ?? [], initial),
  );
  const [json, setJson] = useState(() =>
    JSON.stringify(initial === undefined ? {} : initial, null, 2),
  );
  const isJson = asJson || fields === null;
  const fill = (params: unknown) => {
    setChanged(true);
    setTyped(typedOf(fields ?? [], params));
    setJson(JSON.stringify(params, null, 2));
  };
  const switchMode = () => {
    const read = isJson ? jsonParams(json) : paramsOf(fields, typed);
    if (!isJson) setJson(JSON.stringify('params' in read ? read.params : {}, null, 2));
    else if (fields && 'params' in read && holdsWhole(fields, read.params)) {
      setTyped(typedOf(fields, read.params));
    }
    setAsJson(!asJson);
  };
  const read = () => {
    const params = isJson ? jsonParams(json) : paramsOf(fields, typed);
    const hidden = 'params' in params ? hiddenIn(params.params) : null;
    return hidden === null ? params : { pointer: '', wrong: hidden };
  };
  const type = (pointer: string, value: string) => {
    setChanged(true);
    setTyped({ ...typed, [pointer]: value });
  };
  const typeJson = (text: string) => {
    setChanged(true);
    setJson(text);
  };
  const draft = { fields, typed, json, asJson: isJson, changed };
  return { ...draft, type, typeJson, fill, switchMode, read };
}

/** One input per field of the schema, or one for JSON, and the errors that belong to no field. */
export function ParamsInput({ draft, wrong }: { draft: ParamsDraft; wrong: Wrong }) {
  const { fields, typed, json, asJson } = draft;
  const known = asJson ? [] : (fields ?? []).map(({ pointer }) => pointer);
  return (
    <>
      {asJson || fields === null ? (
        <label className="field">
          <span>Params as JSON</span>
          <textarea
            rows={6}
            spellCheck={false}
            value={json}
            aria-invalid={Object.keys(wrong).length > 0}
            onChange={(event) => draft.typeJson(event.target.value)}
          />
        </label>
      ) : (
        fields.map((field) => (
          <ParamField
            key={field.pointer}
            field={field}
            value={typed[field.pointer] ?? ''}
            wrong={wrong[field.pointer]}
            onChange={(value) => draft.type(field.pointer, value)}
          />
        ))
      )}
      <Complaints wrong={wrong} known={known} />
    </>
  );
}

/** For a draft whose schema has fields. */
export function SwitchMode({ draft }: { draft: ParamsDraft }) {
  if (draft.fields === null) return null;
  return (
    <button type="button" className="small" onClick={draft.switchMode}>
      {draft.asJson ? 'Edit as form' : 'Edit as JSON'}
    </button>
  );
}

/** Errors that belong to no visible field. */
export function Complaints({ wrong, known }: { wrong: Wrong; known: readonly string[] }) {
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

function jsonParams(text: string): Params {
  const read = readJson(text);
  if ('value' in read) return { params: read.value };
  return { pointer: '', wrong: read.wrong };
}

/** Why the server refused it: by pointer, or as a whole. */
export function wrongOf(error: Error): Wrong {
  if (!isRefused(error)) return {};
  if (error.violations.length === 0) return { '': errorText(error) };
  return Object.fromEntries(error.violations.map(({ pointer, detail }) => [pointer, detail]));
}

/** Without the prefix, which names where the params are in the request. */
export function wrongParams(wrong: Wrong): Wrong {
  return Object.fromEntries(
    Object.entries(wrong).map(([pointer, detail]) => [pointer.replace(/^\/params/, ''), detail]),
  );
}
