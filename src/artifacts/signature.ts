import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { ArtifactError } from '../core/artifact/artifact-error.ts';

/** What a signature is for: the archive by its hash, and its manifest as canonical JSON. */
export interface SignedContent {
  sha256: string;
  /** '' for an archive without a manifest. */
  canonical: string;
}

export interface Signature {
  keyId: string;
  /** Base64. */
  signature: string;
}

export interface SigningKey {
  keyId: string;
  /** PKCS 8 in PEM: a secret. */
  privateKey: string;
  /** `ed25519:` and 32 bytes in base64. */
  publicKey: string;
}

export interface TrustedKey {
  keyId: string;
  key: KeyObject;
}

const PREFIX = 'ed25519:';
const PURPOSE = 'longshore artifact 1';

export function createSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    keyId: keyIdOf(publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: `${PREFIX}${rawOf(publicKey).toString('base64')}`,
  };
}

/** Throws when the text is no private key of Ed25519. */
export function signContent(content: SignedContent, privateKey: string): Signature {
  const key = createPrivateKey(privateKey);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the signing key must be Ed25519');
  return {
    keyId: keyIdOf(createPublicKey(key)),
    signature: sign(null, messageOf(content), key).toString('base64'),
  };
}

/** Reads a public key as `createSigningKey` writes it, or in PEM. Throws when it is neither. */
export function trustedKey(text: string): TrustedKey {
  const trimmed = text.trim();
  const raw = trimmed.startsWith(PREFIX) ? trimmed.slice(PREFIX.length) : null;
  const key = raw === null ? publicKeyOf(trimmed) : keyOfRaw(Buffer.from(raw, 'base64'));
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new Error(`a trusted key is "${PREFIX}" and 32 bytes in base64, or PEM of Ed25519`);
  }
  return { keyId: keyIdOf(key), key };
}

/** Answers with the id of the key. Throws `ArtifactError` unless a trusted key signed the content. */
export function verifyContent(
  content: SignedContent,
  signature: Signature | null,
  trusted: readonly TrustedKey[],
): string {
  if (signature === null) {
    throw new ArtifactError('UNSIGNED', 'the artifact is not signed, and this server wants it');
  }
  const { keyId } = signature;
  const found = trusted.find((one) => one.keyId === keyId);
  if (!found) {
    const words = `the artifact is signed with the key ${keyId}, which is not trusted here`;
    throw new ArtifactError('UNKNOWN_KEY', words);
  }
  const bytes = Buffer.from(signature.signature, 'base64');
  if (!verify(null, messageOf(content), found.key, bytes)) {
    const words = `the signature of the key ${keyId} does not fit the artifact`;
    throw new ArtifactError('WRONG_SIGNATURE', words);
  }
  return keyId;
}

function messageOf({ sha256, canonical }: SignedContent): Buffer {
  return Buffer.from(`${PURPOSE}\n${sha256}\n${canonical}`, 'utf8');
}

function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256').update(rawOf(publicKey)).digest('hex').slice(0, 16);
}

function rawOf(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function keyOfRaw(raw: Buffer): KeyObject | null {
  if (raw.length !== 32) return null;
  const key = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') };
  return createPublicKey({ key, format: 'jwk' });
}

/** Not from a private key: a secret must not be in the settings of a worker. */
function publicKeyOf(pem: string): KeyObject | null {
  if (!pem.startsWith('-----BEGIN PUBLIC KEY-----')) return null;
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}
