import { expect, test } from 'vitest';
import { unregistered } from './enqueue-warning.ts';

const registered = new Map([
  ['total', [1]],
  ['mail.send', [1, 3]],
]);

test.each([
  ['totl', null, 'no worker has registered "totl": did you mean "total"?'],
  ['elsewhere', null, 'no worker has registered "elsewhere"'],
  ['mail.send', 2, 'no worker has registered version 2 of "mail.send": registered are 1, 3'],
])('a job of %s, version %s', (key, version, detail) => {
  expect(unregistered(key, version, registered)).toEqual({ code: 'UNREGISTERED', detail });
});
