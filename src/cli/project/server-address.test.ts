import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findAddress, leaveAddress } from './server-address.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-address-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('is found until the server ends', () => {
  const folder = newFolder();
  expect(findAddress(folder)).toBeNull();
  const first = leaveAddress(folder, 'http://127.0.0.1:4401');
  expect(findAddress(folder)).toBe('http://127.0.0.1:4401');
  const second = leaveAddress(folder, 'http://127.0.0.1:4402');
  first();
  expect(findAddress(folder)).toBe('http://127.0.0.1:4402');
  second();
  expect(findAddress(folder)).toBeNull();
  expect(leaveAddress(join(folder, 'missing'), 'http://127.0.0.1:1')()).toBeUndefined();
});

it.each([
  'http://evil.example:80',
  'https://127.0.0.1:4400',
  'http://127.0.0.1:4400@evil.example',
  '',
])('does not believe %j', (text) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'address'), text);
  expect(findAddress(folder)).toBeNull();
});
