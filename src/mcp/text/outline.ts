import { printable, printableJson, printableLines } from '../../core/values/printable.ts';
import { isRecord } from '../../core/values/record.ts';
import type { Facts } from './facts.ts';

/**
 * An answer as text: `name: value` per line, lists with dashes. The lines of a longer text begin
 * with a bar, so that a text of a job cannot pass for a field of the answer.
 */
export function outline(facts: Facts): string {
  return fields(facts).join('\n');
}

function fields(facts: Facts): string[] {
  return Object.entries(facts).flatMap(([name, value]) => field(printable(name), value));
}

function field(name: string, value: unknown): string[] {
  if (typeof value === 'string') return textField(name, value);
  if (Array.isArray(value)) return listField(name, value);
  if (isRecord(value)) return [`${name}:`, ...indent(fields(value))];
  return [`${name}: ${printableJson(value)}`];
}

function textField(name: string, text: string): string[] {
  if (!text.includes('\n')) return [`${name}: ${printable(text)}`];
  return [`${name}:`, ...printableLines(text).map((line) => `  | ${line}`)];
}

function listField(name: string, list: readonly unknown[]): string[] {
  if (list.every((one) => typeof one === 'string' && one.length < SHORT && !/[\n,]/.test(one))) {
    return [`${name}: ${list.map((one) => printable(String(one))).join(', ')}`];
  }
  return [`${name}:`, ...list.flatMap(item)];
}

const SHORT = 60;

function item(value: unknown): string[] {
  if (isRecord(value)) {
    const [first = '', ...rest] = fields(value);
    return [`  - ${first}`, ...indent(indent(rest))];
  }
  if (typeof value === 'string') {
    const [first = '', ...rest] = printableLines(value);
    return [`  - ${first}`, ...rest.map((line) => `    | ${line}`)];
  }
  return [`  - ${printableJson(value)}`];
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
