import { expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';

test('encryption status counts values by key', async () => {
  const { code, stdout } = await run(['encryption', 'status']);
  expect({ code, lines: stdout.split('\n').map((line) => line.split(/ +/)) }).toEqual({
    code: 0,
    lines: [['KEY', 'USE', 'VALUES'], ['2026', 'encrypts', '5'], ['2025', 'decrypts', '7'], ['']],
  });
});

test('encryption reseal says what it did', async () => {
  const { stderr } = await run(['encryption', 'reseal']);
  expect(stderr).toBe('7 values were re-encrypted.\n');
  const { stdout } = await run(['encryption', 'reseal', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ resealed: 7, keys: [{ id: '2026', values: 12 }, {}] });
});

test('config masks the keys', async () => {
  const secret = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
  const { code, stdout } = await run(['config'], {
    env: { LONGSHORE_ENCRYPTION_KEYS: `a:${secret}` },
  });
  expect([code, stdout.includes('encryptionKeys'), stdout.includes(secret)]).toEqual([
    0,
    true,
    false,
  ]);
});
