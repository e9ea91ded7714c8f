import { isIPv4, isIPv6 } from 'node:net';
import type { Kind } from './kind.ts';
import type { Setting } from './schema.ts';
import { ALERT_RULE_NAMES } from '../core/alert/alert.ts';
import { parseAlertDefaults } from '../core/alert/alert-rules.ts';
import { kafkaProblem, parseBrokers } from '../core/broker/broker-url.ts';
import { parseUidSetting } from '../core/access/job-uids.ts';
import { parseWorkerRange, WORKERS_MAX } from '../core/queue/worker-range.ts';
import { parseJobLines } from '../core/views/job-log.ts';
import { parseGroupRules } from '../core/identity/group-rules.ts';
import { parseKeyRing } from '../core/access/key-ring.ts';
import { nearestName, unknownName } from '../core/values/nearest.ts';

/** A value as written, and its name for error messages. */
export interface Written {
  text: string;
  as: string;
  origin: string;
}

export type Parsed = { ok: true; value: string | number } | { ok: false; problem: string };

export function parseSetting(setting: Setting, { text, as }: Written): Parsed {
  const value = parseKind(setting.kind, text);
  if (value !== null) return { ok: true, value };
  // An invalid secret is not repeated, because problems are logged.
  const got = setting.secret ? '' : `, got ${JSON.stringify(text)}`;
  const hint = hintFor(setting.kind, text);
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
    case 'variables':
      return parseVariables(text);
    case 'names':
      return parseNames(text);
    case 'networks':
      return parseNetworks(text);
    case 'alerts':
      return parseAlertDefaults(text) === null ? null : text.trim();
    case 'brokers':
      return parseBrokers(text) === null ? null : text.trim();
    case 'key-ring':
      return parseKeyRing(text).ok ? text : null;
    case 'groups':
      return parseGroupRules(text).ok ? text.trim() : null;
    case 'job-lines':
      return parseJobLines(text) === null ? null : text;
    case 'uids':
      return parseUidSetting(text) === null ? null : text.trim();
    case 'workers':
      return parseWorkerRange(text, 1) === null ? null : text.trim();
    case 'url':
      return parseUrl(kind, text);
  }
}

/** Host names without ports, separated by commas. */
function parseNames(text: string): string | null {
  const names = text.split(',').map((name) => name.trim());
  return names.every((name) => HOST_NAME.test(name)) ? names.join(',') : null;
}

const HOST_NAME = /^(\*|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|[0-9A-Fa-f:.]{2,45})$/;

/** Networks in CIDR notation, separated by commas. */
function parseNetworks(text: string): string | null {
  const networks = text.split(',').map((network) => network.trim());
  const good = networks.every((network) => {
    const [, address = '', prefix = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(network) ?? [];
    return (isIPv4(address) && Number(prefix) <= 32) || (isIPv6(address) && Number(prefix) <= 128);
  });
  return good ? networks.join(',') : null;
}

/** Names of variables, separated by commas; `AWS_*` matches a prefix. */
function parseVariables(text: string): string | null {
  const names = text.split(',').map((name) => name.trim());
  const good = names.every((name) => VARIABLE.test(name) && !mayBeSecret(name));
  return good ? names.join(',') : null;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*\*?$/;

/** Settings of Longshore and the database URL are never passed to jobs. */
function mayBeSecret(name: string): boolean {
  if (name.startsWith('LONGSHORE_') || name === 'DATABASE_URL') return true;
  const begin = name.endsWith('*') ? name.slice(0, -1) : null;
  return begin !== null && ['LONGSHORE_', 'DATABASE_URL'].some((ours) => ours.startsWith(begin));
}

function parseUrl(
  { protocols, keepsSlash = false }: Extract<Kind, { type: 'url' }>,
  text: string,
): string | null {
  const protocol = protocols.find((name) => text.startsWith(`${name}//`));
  if (protocol === undefined || text.length === protocol.length + 2) return null;
  // A database URL may name a socket, which `URL` cannot parse; the PostgreSQL client checks it.
  if (!protocol.startsWith('http')) return text;
  if (!URL.canParse(text)) return null;
  return keepsSlash ? text : text.replace(/\/+$/, '');
}

export function describeKind(kind: Kind): string {
  switch (kind.type) {
    case 'text':
      return 'a text that is not empty';
    case 'integer':
      return `a whole number from ${kind.min} to ${kind.max}`;
    case 'choice':
      return `one of ${kind.choices.join(', ')}`;
    case 'variables':
      return 'names of variables, separated by commas, such as "TEAM,AWS_*"';
    case 'names':
      return 'host names without ports, separated by commas, such as "jobs.example.com"';
    case 'networks':
      return 'networks separated by commas, such as "10.1.0.0/16,fd00::/8"';
    case 'alerts':
      return 'rules separated by commas, such as "dead-letters=50/3600,oldest-age=600,vacuum=off"';
    case 'brokers':
      return 'names and URLs separated by commas, such as "rabbit=amqps://user:password@host/vhost,events=kafka://host:9092"';
    case 'key-ring':
      return 'ids and keys of 32 bytes in base64, such as "2026:<key>,2025:<key>"';
    case 'groups':
      return 'groups and scopes separated by commas, such as "ops=admin,dev=jobs:read+jobs:write"';
    case 'job-lines':
      return 'off, failures, all, or a share from 0 to 1 such as 0.01; then +errors, +output or both';
    case 'workers':
      return `a number from 1 to ${WORKERS_MAX}, a range such as "1..4", or auto`;
    case 'uids':
      return 'auto, none, or a range of user ids from 1000 such as 70000-79999';
    case 'url':
      return `a URL that starts with ${kind.protocols.map((name) => `${name}//`).join(' or ')}`;
  }
}

function hintFor(kind: Kind, text: string): string {
  if (kind.type === 'key-ring') {
    const ring = parseKeyRing(text);
    return ring.ok ? '' : `: ${ring.problem}`;
  }
  if (kind.type === 'groups') {
    const parsed = parseGroupRules(text);
    return parsed.ok ? '' : `: ${parsed.problem}`;
  }
  if (kind.type === 'brokers') {
    const problem = kafkaProblem(text);
    return problem === null ? '' : `: ${problem}`;
  }
  if (kind.type === 'variables') {
    const secret = text.split(',').find((name) => mayBeSecret(name.trim()));
    return secret
      ? `: ${secret.trim()} is or may match a secret of Longshore, which jobs never get`
      : '';
  }
  if (kind.type === 'alerts') {
    const names = text.split(',').map((entry) => entry.split('=')[0]?.trim() ?? '');
    const known: readonly string[] = ALERT_RULE_NAMES;
    const unknown = names.find((name) => !known.includes(name));
    return unknown === undefined ? '' : `: ${unknownName('rule', unknown, known)}`;
  }
  const nearest = kind.type === 'choice' ? nearestName(text, kind.choices) : null;
  return nearest ? `: did you mean "${nearest}"?` : '';
}
