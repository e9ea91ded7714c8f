import { NonRetryable } from '../../core/definition/define.ts';
import { isRecord } from '../../core/values/record.ts';

export interface Template {
  subject?: string | undefined;
  text: string;
  /** For e-mail. Values are escaped. */
  html?: string | undefined;
}

const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w.]*)\s*\}\}/g;

/** Replaces `{{name}}` and `{{user.name}}` by values of the data. */
export function render(
  template: string,
  data: unknown,
  escape: (value: string) => string = (value) => value,
): string {
  return template.replaceAll(PLACEHOLDER, (_, path: string) => escape(valueAt(data, path)));
}

export function escapeHtml(value: string): string {
  const names: Record<string, string> = {
    '&': 'amp',
    '<': 'lt',
    '>': 'gt',
    '"': 'quot',
    "'": '#39',
  };
  return value.replaceAll(/[&<>"']/g, (sign) => `&${names[sign]};`);
}

function valueAt(data: unknown, path: string): string {
  let value = data;
  for (const name of path.split('.')) {
    value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new NonRetryable(`data.${path} of the template must be text, a number or a boolean`);
}
