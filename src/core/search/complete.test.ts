import { expect, it, test } from 'vitest';
import { completionsAt } from './complete.ts';

const KNOWN = {
  definitions: ['billing.send', 'crm.sync', 'mail send'],
  owners: ['team-billing', 'sales'],
  codes: ['TIMEOUT', 'HANDLER_ERROR'],
  tags: ['eu', 'europe'],
};

/** The caret is at the bar. */
function offered(marked: string): string[] {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  const { from, to, options } = completionsAt(text, caret, KNOWN);
  return options.map((option) => text.slice(0, from) + option.text + text.slice(to));
}

it.each([
  ['ow|', ['owner:']],
  ['bill|', ['definition:billing.send ', 'owner:team-billing ']],
  [
    'definition:s|',
    ['definition:billing.send ', 'definition:crm.sync ', 'definition:"mail send" '],
  ],
  ['owner:|', ['owner:team-billing ', 'owner:sales ']],
  ['code:time|', ['code:TIMEOUT ']],
  ['tag:eu|', ['tag:europe ']],
  ['status:fa|', ['status:failed ']],
  ['status:failed,ret|', ['status:failed,retrying ']],
  ['tag:e| timeout', ['tag:eu timeout', 'tag:europe timeout']],
  ['x crm|', ['x definition:crm.sync ']],
  ['definition:"mail s|', ['definition:"mail send" ']],
  ['"ow|"', []],
  ['id:01|', []],
  ['nonsense:x|', []],
])('%s', (marked, expected) => expect(offered(marked)).toEqual(expected));

test('an empty field offers the filters, with what they mean', () => {
  const { options } = completionsAt('', 0, KNOWN);
  expect(options[0]).toEqual({ text: 'status:', hint: 'a state, or several: failed,retrying' });
  expect(offered('timeout |')).toContain('timeout owner:');
});
