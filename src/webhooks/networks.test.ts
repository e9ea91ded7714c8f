import { expect, test } from 'vitest';
import { judgeUrl } from '../core/webhook/webhook-url.ts';
import { addressIn } from './address-guard.ts';
import { Networks } from './networks.ts';

const networks = new Networks();

test.each(['1.1.1.1', '93.184.215.14', '2606:4700::1111', '::ffff:1.1.1.1'])(
  '%s is public',
  (address) => expect(networks.allows(address)).toBe(true),
);

test.each([
  ['nothing', ''],
  ['a name', 'localhost'],
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.0.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '192.168.1.1'],
  ['link-local: the metadata of a cloud', '169.254.169.254'],
  ['the metadata of Azure', '168.63.129.16'],
  ['the metadata of Azure, mapped', '::ffff:168.63.129.16'],
  ['the metadata of Alibaba', '100.100.100.200'],
  ['the metadata of Oracle', '192.0.0.192'],
  ['shared by carriers', '100.64.0.1'],
  ['for protocols', '192.0.0.1'],
  ['for documentation', '192.0.2.1'],
  ['for benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['loopback, compatible', '::127.0.0.1'],
  ['loopback, mapped', '::ffff:127.0.0.1'],
  ['loopback, mapped, in hex', '::ffff:7f00:1'],
  ['loopback, translated', '::ffff:0:127.0.0.1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['a public one with a zone', '2001:db8::1%lo'],
  ['site-local', 'fec0::1'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fd00:ec2::254'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 of a public address', '64:ff9b::101:101'],
  ['local NAT64', '64:ff9b:1::1'],
  ['6to4 of loopback', '2002:7f00:1::'],
  ['6to4 of a private one', '2002:a00:1::1'],
  ['Teredo', '2001::1'],
  ['for documentation', '2001:db8::1'],
  ['multicast', 'ff02::1'],
  ['for segments', '5f00::1'],
])('%s is not: %s', (_, address) => expect(networks.allows(address)).toBe(false));

/** What people write to get around a list of addresses; a URL knows only one way to write each. */
test.each([
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://127.0.0.1./',
  'http://0/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[0:0:0:0:0:ffff:7f00:1]/',
  'http://①②⑦.⓪.⓪.①/',
  'http://169.254.169.254/latest/meta-data/',
])('%s is seen for what it is', (text) => {
  const verdict = judgeUrl(text);
  const address = verdict.ok ? addressIn(verdict.url.hostname) : null;
  expect(address).not.toBeNull();
  expect(networks.allows(address ?? '')).toBe(false);
});

test('an operator may allow networks, and only these', () => {
  const allowing = new Networks(['10.1.0.0/16', 'fd00::/8']);
  expect(allowing.allows('10.1.2.3')).toBe(true);
  expect(allowing.allows('::ffff:10.1.2.3')).toBe(true);
  expect(allowing.allows('fd12::1')).toBe(true);
  expect(allowing.allows('10.2.0.1')).toBe(false);
  expect(allowing.allows('127.0.0.1')).toBe(false);
  expect(allowing.allows('fc00::1')).toBe(false);
});
