import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { CannotOpen } from '../../core/access/sealed.ts';
import { Vault } from './vault.ts';

const [A, B] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64url')];
const vault = new Vault(`a:${A}`);
const JSON_TEXT = '{"text":"grüße \\ud800","n":1.50, "list":[null]}';

it('gives back to the letter what it sealed, and seals it differently each time', () => {
  const sealed = vault.seal('acme', JSON_TEXT);
  expect(sealed).toMatch(/^\{"\$sealed":"a\.[\w-]{16}\.[\w-]+"\}$/);
  expect(vault.open('acme', sealed)).toBe(JSON_TEXT);
  expect(vault.seal('acme', JSON_TEXT)).not.toBe(sealed);
  expect(vault.seal('acme', sealed)).toBe(sealed);
});

it('opens what SQL has put into an object of its own', () => {
  const params = vault.seal('acme', '{"a":1}');
  const result = vault.seal('acme', '"done"');
  const hook = `{"hook" : "onEnd", "params" : ${params}, "result" : ${result}, "error" : null}`;
  const plain = { hook: 'onEnd', params: { a: 1 }, result: 'done', error: null };
  expect(JSON.parse(vault.open('acme', hook))).toEqual(plain);
  expect(vault.show('acme', JSON.parse(hook))).toEqual(plain);
});

it('does not open what was changed, nor what is of another tenant', () => {
  const sealed = vault.seal('acme', JSON_TEXT);
  expect(() => vault.open('other', sealed)).toThrow(CannotOpen);
  const end = sealed.length - 3;
  for (let at = sealed.indexOf('.') + 1; at < end; at += 1) {
    if (sealed[at] === '.') continue;
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    expect(() => vault.open('acme', changed)).toThrow(CannotOpen);
  }
  for (const damaged of ['{"$sealed":"a"}', '{"$sealed":"a.b.c"}', '{"$sealed":null}']) {
    expect(() => vault.open('acme', damaged)).toThrow('damaged');
  }
  expect(() => new Vault(`a:${B}`).open('acme', sealed)).toThrow('another key of that id');
});

it('changes over to a new key, and needs the old one until nothing is left of it', () => {
  const before = vault.seal('acme', '1');
  const both = new Vault(`b:${B},a:${A}`);
  expect(both.open('acme', before)).toBe('1');
  const after = both.seal('acme', '2');
  const only = new Vault(`b:${B}`);
  expect(only.open('acme', after)).toBe('2');
  expect(() => only.open('acme', before)).toThrow('the key "a", which is not in');
  expect(only.openIfAble('acme', before)).toBe(before);
  expect(only.show('acme', { result: JSON.parse(before) as unknown, n: 1 })).toEqual({
    result: expect.stringMatching(/^\[sealed: .*"a".*\]$/) as string,
    n: 1,
  });
});

it('leaves everything alone without keys, and still knows what was sealed', () => {
  const keyless = new Vault();
  expect(keyless.seal('acme', JSON_TEXT)).toBe(JSON_TEXT);
  expect(keyless.open('acme', JSON_TEXT)).toBe(JSON_TEXT);
  expect(keyless.open('acme', '{"word":"$sealed"}')).toBe('{"word":"$sealed"}');
  expect(() => keyless.open('acme', vault.seal('acme', '1'))).toThrow(CannotOpen);
});

it('shows no secret of a webhook as a value of a job, nor takes a value for a secret', () => {
  const secret = vault.sealText('acme', 'whsec_1');
  expect(vault.openText('acme', secret)).toBe('whsec_1');
  expect(() => vault.open('acme', secret)).toThrow(CannotOpen);
  expect(vault.show('acme', { params: JSON.parse(secret) as unknown })).toEqual({
    params: expect.stringMatching(/^\[sealed: /) as string,
  });
  expect(() => vault.openText('acme', vault.seal('acme', '"x"'))).toThrow(CannotOpen);
  const both = new Vault(`b:${B},a:${A}`);
  const anew = both.reseal('acme', secret, 'secret');
  expect(new Vault(`b:${B}`).openText('acme', anew)).toBe('whsec_1');
});
