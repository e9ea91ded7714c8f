import type { ApiDocument, Call, Operation, Parameter } from './api-document.ts';
import { callsOf } from './api-document.ts';
import { aboutOf, exampleOf, type Field, fieldsOf, resolve, typeOf } from './schema.ts';
import type { Schema, Schemas } from './schema.ts';
import { EVENT_STREAM } from '../streams/event-stream.ts';
import { type Markup, markup } from './markup.ts';

/** The API as a page, made on the server from the OpenAPI document; the frame comes around it. */
export function renderApi(document: ApiDocument, origin: string): Markup {
  const calls = callsOf(document);
  const { info, tags = [] } = document;
  const schemas = document.components?.schemas ?? {};
  const sections = tags.map(({ name, description = '' }) => {
    const members = calls.filter(({ operation }) => operation.tags?.includes(name));
    return markup`<h2>${name}</h2>
<p>${description}</p>
${members.map((call) => renderCall(call, schemas, origin))}`;
  });
  return markup`<h1>${info.title} API</h1>
<p>Version ${info.version}. ${info.description ?? ''} The same for machines:
<a href="../openapi.json">/openapi.json</a>.</p>
<ul class="calls">${calls.map(renderLink)}</ul>
${sections}
<h2>shapes</h2>
${Object.entries(schemas).map(renderShape)}`;
}

function renderLink({ method, path, operation }: Call): Markup {
  return markup`<li><a href="api#${operation.operationId}"><span class="method">${method}</span>
<code>${path}</code></a></li>`;
}

function renderCall(call: Call, schemas: Schemas, origin: string): Markup {
  const { method, path, operation } = call;
  const { parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const good = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const answer = good?.content?.['application/json']?.schema;
  const isLive = good?.content?.[EVENT_STREAM] !== undefined;
  return markup`<section id="${operation.operationId}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p><strong>${operation.summary}.</strong> ${operation.description ?? ''}</p>
${renderFields('Parameters', parameters.map(fieldOfParameter))}
${renderFields('Body', body ? fieldsOf(body) : [])}
<h4>Example</h4>
<pre>${curlExample(call, body, origin)}${isLive ? `\n${liveExample(call, origin)}` : ''}</pre>
${renderAnswers(responses)}
${renderFields('Fields of the answer', answer ? answerFields(answer, schemas) : [])}
</section>`;
}

function renderShape([name, schema]: [string, Schema]): Markup {
  return markup`<section id="${name}">
<h3>${name}</h3>
<p>${schema.description ?? ''}</p>
${renderFields('Fields', answerFields(schema, {}))}
</section>`;
}

function fieldOfParameter({ name, in: place, required = false, ...more }: Parameter): Field {
  const { schema, description } = more;
  const about = aboutOf({ ...schema, ...(description !== undefined && { description }) });
  return { name: `${name} (${place})`, type: typeOf(schema), required, about };
}

/** An answer always has all its fields, so none of them is marked. */
function answerFields(schema: Schema, schemas: Schemas): Field[] {
  return fieldsOf(resolve(schema, schemas)).map((field) => ({ ...field, required: false }));
}

function renderFields(title: string, fields: readonly Field[]): Markup | string {
  if (fields.length === 0) return '';
  const rows = fields.map(
    ({ name, type, required, about }) => markup`<tr>
<td><code>${name}</code>${required ? markup` <span class="must">required</span>` : ''}</td>
<td>${type}</td><td>${about}</td></tr>
`,
  );
  return markup`<h4>${title}</h4>
<table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>
${rows}</table>`;
}

function renderAnswers(responses: Operation['responses']): Markup {
  const rows = Object.entries(responses).map(
    ([status, { description, content = {} }]) => markup`<tr><td><code>${status}</code></td>
<td>${Object.keys(content).join(', ')}</td><td>${description}</td></tr>
`,
  );
  return markup`<h4>Answers</h4>
<table><tr><th>Status</th><th>Type</th><th>Meaning</th></tr>
${rows}</table>`;
}

/** A command that works as it stands, when a job with that id exists. */
function curlExample(call: Call, body: Schema | undefined, origin: string): string {
  const { method } = call;
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), exampleUrl(call, origin)];
  if (!body) return words.join(' ');
  const json = JSON.stringify(exampleOf(body), null, 2);
  return `${words.join(' ')} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`;
}

/** The same call, followed instead of read once. */
function liveExample(call: Call, origin: string): string {
  return `curl -N -H 'accept: ${EVENT_STREAM}' ${exampleUrl(call, origin)}`;
}

function exampleUrl({ path, operation }: Call, origin: string): string {
  return (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (built, { name, example }) => built.replace(`{${name}}`, String(example)),
      `${origin}${path}`,
    );
}
