import { expect, it } from 'vitest';
import { alertSentence } from './alert-sentence.ts';

it.each([
  ['orders.import has 1020 dead letters', 'orders.import', 'orders.import has 1020 dead letters'],
  ['a job of mail has been queued for 9m', 'mail', 'A job of mail has been queued for 9m'],
  ['a webhook has failed for 5m', null, 'A webhook has failed for 5m'],
])('%s', (message, definitionKey, sentence) => {
  expect(alertSentence({ message, definitionKey })).toBe(sentence);
});
