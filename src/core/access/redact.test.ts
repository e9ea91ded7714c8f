import { describe, expect, test } from 'vitest';
import { isSecretName, REDACTED, Redactor } from './redact.ts';

test.each([
  'password', 'Password', 'userPassword', 'password_hash', 'PASSWD', 'passphrase', 'clientSecret',
  'secret', 'Authorization', 'proxy-authorization', 'credentials', 'apiKey', 'api_key', 'X-Api-Key',
  'privateKey', 'accessKeyId', 'token', 'accessToken', 'refresh_token', 'Set-Cookie', 'cardNumber',
  'card_number', 'cvv', 'iban', 'ssn', 'pwd',
])('%s is the name of a secret', (name) => expect(isSecretName(name)).toBe(true)); // prettier-ignore

test.each([
  'tokens',
  'maxTokens',
  'key',
  'author',
  'passenger',
  'bypass',
  'cardNumberLength',
  'url',
])('%s is not', (name) => expect(isSecretName(name)).toBe(false));

describe('a value', () => {
  const redactor = new Redactor(['card.number', 'users.*.mail', 'pin']);

  test('loses its secrets by name and by path, at any depth and in lists', () => {
    const value = {
      password: 'a',
      db: { password: { nested: 'b' }, host: 'c' },
      card: { number: '4111', holder: 'd' },
      list: [{ token: 'e' }, { card: { number: 5 } }],
      users: { one: { mail: 'f', name: 'g' } },
      pin: [1, 2],
    };
    expect(redactor.value(value)).toEqual({
      password: REDACTED,
      db: { password: REDACTED, host: 'c' },
      card: { number: REDACTED, holder: 'd' },
      list: [{ token: REDACTED }, { card: { number: REDACTED } }],
      users: { one: { mail: REDACTED, name: 'g' } },
      pin: REDACTED,
    });
    expect(value.password).toBe('a');
  });

  test('without secrets is the value itself', () => {
    for (const plain of [
      null,
      1,
      'text',
      [],
      { a: [{ b: null }], hasPassword: true, token: null },
    ]) {
      expect(redactor.value(plain)).toBe(plain);
    }
  });

  test('may have hostile names, and any depth', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"password":"x"},"constructor":{"token":"y"}}',
    ) as object;
    const shown = JSON.stringify(redactor.value(hostile));
    expect(shown).toBe(
      `{"__proto__":{"password":"${REDACTED}"},"constructor":{"token":"${REDACTED}"}}`,
    );
    expect(({} as Record<string, unknown>)['password']).toBeUndefined();
    let deep: unknown = { password: 'x' };
    for (let n = 0; n < 100_000; n += 1) deep = n % 2 ? [deep] : { a: deep };
    expect(JSON.stringify(redactor.value(deep))).not.toContain('password":"x');
  });
});

describe('a text', () => {
  const params = {
    password: 'hunter22',
    card: { number: 4111111111111111 },
    pin: '12',
    user: 'ada',
  };
  const redactor = new Redactor(['card'], params);

  test('loses what was secret in the params, wherever it stands', () => {
    expect(redactor.text('login of ada with hunter22 failed: hunter22')).toBe(
      `login of ada with ${REDACTED} failed: ${REDACTED}`,
    );
    expect(redactor.text('card 4111111111111111 refused, 12 left')).toBe(
      `card ${REDACTED} refused, 12 left`,
    );
    expect(redactor.value({ said: ['it was hunter22'] })).toEqual({ said: [`it was ${REDACTED}`] });
  });

  test('loses them as JSON, line by line, and whole where one begins another', () => {
    const privateKey = '-----BEGIN KEY-----\nMIIEvgIBADANBgkqhkiG\n-----END KEY-----';
    const secrets = new Redactor([], { privateKey, token: 'abcdef', longToken: 'abcdefgh "i"' });
    expect(secrets.text(JSON.stringify({ privateKey }))).toBe(`{"privateKey":"${REDACTED}"}`);
    expect(secrets.text('the line MIIEvgIBADANBgkqhkiG')).toBe(`the line ${REDACTED}`);
    expect(secrets.text('abcdefgh "i", abcdefgh \\"i\\", abcdef')).toBe(
      `${REDACTED}, ${REDACTED}, ${REDACTED}`,
    );
  });

  test('is searched for a bounded number of them', () => {
    const many = new Redactor([], {
      secret: Array.from({ length: 9_000 }, (_, n) => `s-${n}-xyz`),
    });
    expect(many.text('s-7-xyz')).toBe(REDACTED);
    expect(many.text('s-8999-xyz')).toBe('s-8999-xyz');
  });
});

test('a secret is masked where it is a number or the name of a field', () => {
  const redactor = new Redactor(['card'], { card: 4111111111111111, token: 'abcdef-1' });
  const value = { n: 4111111111111111, list: [1, 4111], 'abcdef-1': { 'x-abcdef-1': true } };
  expect(redactor.value(value)).toEqual({
    n: REDACTED,
    list: [1, 4111],
    [REDACTED]: { [`x-${REDACTED}`]: true },
  });
});
