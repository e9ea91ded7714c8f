import { expect, test } from 'vitest';
import { escapeHtml, render } from './template.ts';

const data = { name: 'Ada <ada@example.com>', order: { id: 17, paid: true }, list: [1] };

test.each([
  ['Hello {{name}}', 'Hello Ada <ada@example.com>'],
  ['{{ order.id }}: {{order.paid}}', '17: true'],
  ['no value, {not} {{ 1 }}', 'no value, {not} {{ 1 }}'],
])('%j becomes %j', (template, expected) => expect(render(template, data)).toBe(expected));

test('values are escaped, the template is not', () => {
  expect(render('<b>{{name}}</b>', data, escapeHtml)).toBe('<b>Ada &lt;ada@example.com&gt;</b>');
  expect(escapeHtml(`a & "b" 'c'`)).toBe('a &amp; &quot;b&quot; &#39;c&#39;');
});

test('a value with a placeholder is not rendered again', () => {
  expect(render('{{a}}', { a: '{{b}}', b: 'secret' })).toBe('{{b}}');
});

test.each(['{{missing}}', '{{order}}', '{{list}}', '{{name.length}}', '{{constructor.name}}'])(
  '%s has no text and is refused',
  (template) => expect(() => render(template, data)).toThrow(/must be text, a number or a boolean/),
);
