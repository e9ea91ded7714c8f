import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigningKey, signContent, trustedKey, verifyContent } from './signature.ts';

const key = createSigningKey();
const other = createSigningKey();
const content = { sha256: 'ab'.repeat(32), canonical: '{"longshore":1}' };
const trusted = [trustedKey(other.publicKey), trustedKey(key.publicKey)];

describe('a signature', () => {
  it('is accepted from each trusted key', () => {
    for (const { privateKey, keyId } of [key, other]) {
      const signature = signContent(content, privateKey);
      expect(signature.keyId).toBe(keyId);
      expect(verifyContent(content, signature, trusted)).toBe(keyId);
    }
  });

  const signature = signContent(content, key.privateKey);
  const forged = signContent(content, other.privateKey);
  it.each([
    ['UNSIGNED', content, null],
    ['UNKNOWN_KEY', content, { ...signature, keyId: '0'.repeat(16) }],
    ['UNKNOWN_KEY', content, signContent(content, createSigningKey().privateKey)],
    ['WRONG_SIGNATURE', { ...content, sha256: 'cd'.repeat(32) }, signature],
    ['WRONG_SIGNATURE', { ...content, canonical: '{"longshore":2}' }, signature],
    ['WRONG_SIGNATURE', content, { ...signature, signature: forged.signature }],
    ['WRONG_SIGNATURE', content, { ...signature, signature: '' }],
    ['WRONG_SIGNATURE', content, { ...signature, signature: signature.signature.slice(4) }],
  ])('is refused: %s', (code, claimed, given) => {
    expect(() => verifyContent(claimed, given, trusted)).toThrow(expect.objectContaining({ code }));
  });

  it('is unknown where no key is trusted', () => {
    const code = 'UNKNOWN_KEY';
    expect(() => verifyContent(content, signature, [])).toThrow(expect.objectContaining({ code }));
  });

  it('cannot be moved between hash and manifest', () => {
    const moved = { sha256: `${content.sha256}\n`, canonical: content.canonical };
    expect(() => verifyContent(moved, signature, trusted)).toThrow('does not fit');
  });
});

describe('a trusted key', () => {
  const pem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' }).toString();
  it('may be PEM', () => expect(trustedKey(`${pem}\n`).keyId).toBe(key.keyId));

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['too short', 'ed25519:AAAA'],
    ['a broken PEM', '-----BEGIN PUBLIC KEY-----\nx'],
    ['a private key', key.privateKey],
    ['RSA', rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ])('is not %s', (_, text) => expect(() => trustedKey(text)).toThrow('a trusted key is'));

  it('signs only as Ed25519', () => {
    const privateKey = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => signContent(content, privateKey)).toThrow('must be Ed25519');
  });
});
