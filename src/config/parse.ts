import type { Kind, Setting } from './schema.ts';
import { nearestName } from '../core/nearest.ts';

/** A value as somebody wrote it, and where: problems with it are reported under that name. */
export interface Written {
  text: string;
  as: string;
  origin: string;
}

export type Parsed = { ok: true; value: string | number } | { ok: false; problem: string };

export function parseSetting(setting: Setting, { text, as }: Written): Parsed {
  const value = parseKind(setting.kind, text);
  if (value !== null) return { ok: true, value };
  // A refused secret is not repeated: problems end up in logs.
  const got = setting.secret ? '' : `, got ${JSON.stringify(text)}`;
  const hint = setting.kind.type === 'choice' ? choiceHint(setting.kind.choices, text) : '';
  return { ok: false, problem: `${as} must be ${describeKind(setting.kind)}${got}${hint}` };
}

function parseKind(kind: Kind, text: string): string | number | null {
  switch (kind.type) {
    case 'text':
      return text === '' ? null : text;
    case 'integer': {
      const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : NaN;
      return value >= kind.min && value <= kind.max ? value : null;
    }
    case 'choice':
      return kind.choices.includes(text) ? text : null;
    case 'url':
      return parseUrl(kind.protocols, text);
  }
}

function parseUrl(protocols: readonly string[], text: string): string | null {
  const protocol = protocols.find((name) => text.startsWith(`${name}//`));
  if (protocol === undefined || text.length === protocol.length + 2) return null;
  // A database URL may name a socket, which `URL` cannot read: PostgreSQL's client is the judge.
  if (!protocol.startsWith('http')) return text;
  return URL.canParse(text) ? text.replace(/\/+$/, '') : null;
}

export function describeKind(kind: Kind): string {
  switch (kind.type) {
    case 'text':
      return 'a text that is not empty';
    case 'integer':
      return `a whole number from ${kind.min} to ${kind.max}`;
    case 'choice':
      return `one of ${kind.choices.join(', ')}`;
    case 'url':
      return `a URL that starts with ${kind.protocols.map((name) => `${name}//`).join(' or ')}`;
  }
}

function choiceHint(choices: readonly string[], text: string): string {
  const nearest = nearestName(text, choices);
  return nearest ? `: did you mean "${nearest}"?` : '';
}
