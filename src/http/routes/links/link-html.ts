import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { decisionOf } from '../../../core/form/decision.ts';
import { type Field, fieldsOf, type Typed } from '../../../core/form/schema-form.ts';
import type { LinkChoice } from '../../../core/signal/signal-link.ts';
import { Markup, markup } from '../../docs/markup.ts';

/** Messages by JSON pointer into the payload; the empty pointer is the payload as a whole. */
export type Wrong = Readonly<Record<string, string>>;

/** The fields of a form that have no pointer. */
export const CHOICE = 'choice';
export const JSON_PAYLOAD = 'payload';

/** What a page asks. */
export interface Question {
  definitionKey: string;
  signal: string;
  text: string | null;
  expiresAt: Date;
  choices: readonly LinkChoice[] | null;
  schema: unknown;
}

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#f4f6f8, #0d1218);
  --surface: light-dark(#ffffff, #141b23); --ink: light-dark(#15202b, #e4eaf1);
  --soft: light-dark(#51606f, #9cabbb); --line: light-dark(#dce2e9, #26313d);
  --accent: light-dark(#0a5ca8, #6db5f8); --bad: light-dark(#b3261e, #ff8a80); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; line-height: 1.55; font-family: system-ui, sans-serif;
  background: var(--ground); color: var(--ink); }
main { max-width: 34rem; margin: 2rem auto; padding: 1.5rem; background: var(--surface);
  border: 1px solid var(--line); border-radius: 8px; }
h1 { font-size: 1.3rem; margin: 0 0 1rem; } .about, .hint { color: var(--soft); }
.ask { white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0; } label span { display: block; font-weight: 600; }
input, select, textarea, button { font: inherit; color: inherit; padding: 0.4rem 0.6rem;
  background: var(--ground); border: 1px solid var(--line); border-radius: 5px; }
input, select, textarea { width: 100%; }
button { min-width: 6rem; margin: 0.5rem 0.5rem 0 0; cursor: pointer; }
.wrong { color: var(--bad); } :focus-visible { outline: 2px solid var(--accent); }
`;

const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function sendPage(reply: FastifyReply, status: number, title: string, body: Markup) {
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${new Markup(`<style>${STYLE}</style>`)}
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return (
    reply
      .code(status)
      .header('content-security-policy', POLICY)
      // With "no-referrer", browsers would send the form with "Origin: null".
      .header('referrer-policy', 'same-origin')
      .header('x-robots-tag', 'noindex')
      .type('text/html; charset=utf-8')
      .send(page.text)
  );
}

export function sendText(reply: FastifyReply, status: number, title: string, text: string) {
  return sendPage(reply, status, title, markup`<p>${text}</p>`);
}

/** A form without an address is sent to the page that it is on. */
export function sendQuestion(
  reply: FastifyReply,
  question: Question,
  typed: Typed = {},
  wrong: Wrong = {},
) {
  const { definitionKey, signal, text, expiresAt, choices, schema } = question;
  const fields = choices ? [] : fieldsOf(schema);
  const decision = decisionOf(fields ?? []);
  const shown = (fields ?? []).filter((field) => field !== decision);
  const free = !choices && !fields ? [jsonInput(typed)] : [];
  const others = Object.entries(wrong).filter(
    ([pointer]) => !shown.some((field) => field.pointer === pointer),
  );
  const body = markup`${text === null ? '' : markup`<p class="ask">${text}</p>`}
<p class="about">A job of <strong>${definitionKey}</strong> waits for the answer “${signal}”.
The link works once, until ${timeText(expiresAt)}.</p>
<form method="post">
${shown.map((field) => input(field, typed[field.pointer] ?? field.initial, wrong[field.pointer]))}
${free}
${others.map(([pointer, detail]) => markup`<p class="wrong" role="alert">${pointer} ${detail}</p>`)}
${buttons(choices, decision)}
</form>`;
  const status = Object.keys(wrong).length > 0 ? 422 : 200;
  return sendPage(reply, status, 'Your answer is needed', body);
}

function buttons(choices: readonly LinkChoice[] | null, decision: Field | null): Markup[] {
  if (choices) return choices.map(({ label }, index) => button(CHOICE, String(index), label));
  if (!decision) return [markup`<button type="submit">Send</button>`];
  const { pointer } = decision;
  return [button(pointer, 'true', 'Approve'), button(pointer, 'false', 'Reject')];
}

function button(name: string, value: string, label: string): Markup {
  return markup`<button type="submit" name="${name}" value="${value}">${label}</button>\n`;
}

function input(field: Field, value: string, wrong: string | undefined): Markup {
  const { label, about, required } = field;
  return markup`<label><span>${label}${required ? '' : ' (optional)'}</span>
${control(field, value)}
${about === '' ? '' : markup`<small class="hint">${about}</small>`}
${wrong === undefined ? '' : markup`<small class="wrong" role="alert">${wrong}</small>`}</label>
`;
}

function control({ kind, pointer, choices }: Field, value: string): Markup {
  if (kind === 'choice' || kind === 'boolean') {
    const values = kind === 'boolean' ? ['true', 'false'] : choices;
    const options = ['', ...values].map((one) => option(one, kind, one === value));
    return markup`<select name="${pointer}">${options}</select>`;
  }
  if (kind === 'number')
    return markup`<input name="${pointer}" type="number" step="any" value="${value}">`;
  const rows = kind === 'text' ? 2 : 4;
  return markup`<textarea name="${pointer}" rows="${rows}">${value}</textarea>`;
}

function option(value: string, kind: Field['kind'], selected: boolean): Markup {
  const words = kind === 'boolean' && value !== '' ? (value === 'true' ? 'yes' : 'no') : value;
  const mark = new Markup(selected ? ' selected' : '');
  return markup`<option value="${value}"${mark}>${words}</option>`;
}

function jsonInput(typed: Typed): Markup {
  const value = typed[JSON_PAYLOAD] ?? 'null';
  return markup`<label><span>Answer as JSON</span>
<textarea name="${JSON_PAYLOAD}" rows="3">${value}</textarea></label>`;
}

export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
