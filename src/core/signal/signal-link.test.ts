import { describe, expect, it } from 'vitest';
import {
  CHOICES_MAX,
  formatLinkToken,
  LINK_MS_DEFAULT,
  LINK_MS_MAX,
  linkOptionsProblem,
  linkState,
  linkUrl,
  newLink,
  parseLinkToken,
  storedLink,
} from './signal-link.ts';
import { isReservedStep, isServerStep } from '../job/signal.ts';

const TOKEN = {
  jobId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  linkId: '0123456789abcdef',
  secret: 'ab'.repeat(32),
};

describe('the token of a link', () => {
  it('is read as it was written, and has nothing that chats or HTML would escape', () => {
    expect(parseLinkToken(formatLinkToken(TOKEN))).toEqual(TOKEN);
    expect(linkUrl('https://jobs.example.com/', TOKEN)).toMatch(
      /^https:\/\/jobs\.example\.com\/v1\/links\/lsl_[0-9a-f_]+$/,
    );
  });

  it.each([
    ['nothing', ''],
    ['a cut token', formatLinkToken(TOKEN).slice(0, -1)],
    ['a longer token', `${formatLinkToken(TOKEN)}0`],
    ['another kind of key', formatLinkToken(TOKEN).replace('lsl', 'lsk')],
    ['capitals', formatLinkToken(TOKEN).toUpperCase()],
  ])('is not %s', (_, text) => {
    expect(parseLinkToken(text)).toBeNull();
  });
});

describe('a link', () => {
  it.each([
    [999, null, 'open'],
    [1_000, null, 'expired'],
    [999, 'used', 'used'],
    [2_000, 'used', 'used'],
    [2_000, 'revoked', 'revoked'],
  ] as const)('at %d, ended by %s, is %s', (nowMs, end, state) => {
    expect(linkState({ expiresAtMs: 1_000 }, end, nowMs)).toBe(state);
  });

  it('is stored and read again', () => {
    const choices = [{ label: 'Yes', payload: { approved: true } }];
    const link = newLink('decision', 'ab', { text: 'Refund?', choices }, 5);
    expect(link.expiresAtMs).toBe(5 + LINK_MS_DEFAULT);
    expect(storedLink(JSON.parse(JSON.stringify(link)))).toEqual(link);
  });

  it.each([
    null,
    'x',
    [],
    {},
    { signal: 'a', hash: 'b' },
    { signal: 'a', hash: 'b', expiresAtMs: 1, choices: [{}] },
  ])('is not read from %j', (value) => {
    expect(storedLink(value)).toBeNull();
  });

  it('has steps that no job can store, and an end that no worker can', () => {
    expect(['link:a', 'link-end:a'].map(isReservedStep)).toEqual([true, true]);
    expect(['link:a', 'link-end:a'].map(isServerStep)).toEqual([false, true]);
  });
});

describe('options of a link', () => {
  const choice = { label: 'Yes', payload: null };
  it.each([
    [{}, null],
    [{ expiresInMs: LINK_MS_MAX, text: 'a', choices: [choice] }, null],
    [{ expiresInMs: 1 }, 'expiresInMs must be'],
    [{ expiresInMs: LINK_MS_MAX + 1 }, 'expiresInMs must be'],
    [{ expiresInMs: Number.NaN }, 'expiresInMs must be'],
    [{ text: 'a'.repeat(2_001) }, 'text must be'],
    [{ choices: [] }, 'choices must be a list'],
    [{ choices: Array.from({ length: CHOICES_MAX + 1 }, () => choice) }, 'choices must be a list'],
    [{ choices: [{ label: '', payload: null }] }, 'must have a label'],
    [{ choices: [{ label: 'Yes', payload: 1n }] }, 'the payload of the choice "Yes"'],
  ])('%#: %s', (options, problem) => {
    const found = linkOptionsProblem(options);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toContain(problem);
  });
});
