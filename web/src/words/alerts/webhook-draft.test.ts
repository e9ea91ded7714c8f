import { expect, it } from 'vitest';
import { madeWebhook } from '../made.fixture.ts';
import { bodyOf, changeOf, draftOf, draftProblem, NEW_WEBHOOK } from './webhook-draft.ts';

it('sends what the form has', () => {
  const draft = { ...NEW_WEBHOOK, url: ' https://a.example/x ', keys: 'a.b, c  d' };
  expect(bodyOf(draft)).toEqual({
    url: 'https://a.example/x',
    events: ['job.failed'],
    format: 'cloudevents',
    description: null,
    definitionKeys: ['a.b', 'c', 'd'],
  });
});

it('needs a URL and an event', () => {
  expect(draftProblem(NEW_WEBHOOK)).toMatch(/^Enter a URL/);
  expect(draftProblem({ ...NEW_WEBHOOK, url: 'https://a.example', events: [] })).toMatch(/event/);
  expect(draftProblem({ ...NEW_WEBHOOK, url: 'https://a.example' })).toBeNull();
});

it('sends only what was edited', () => {
  const webhook = { ...madeWebhook(), definitionKeys: ['a', 'b'], description: 'for Amy' };
  const draft = draftOf(webhook);
  expect(changeOf(draft, webhook)).toEqual({});
  expect(changeOf({ ...draft, keys: '', events: ['job.started'] }, webhook)).toEqual({
    definitionKeys: null,
    events: ['job.started'],
  });
  expect(changeOf({ ...draft, description: ' ' }, webhook)).toEqual({ description: null });
});
