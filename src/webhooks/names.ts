import { Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

/**
 * Looks up names without Node's four threads: there, a name whose servers never answer holds a
 * thread for many seconds, and a few of them block everything that needs one. These queries use
 * their own sockets, each with a time limit.
 *
 * Like the system's lookup, it reads `/etc/hosts` first, and tries short names below the search
 * domains of `/etc/resolv.conf`, as clusters need it.
 */
export interface NamesOptions {
  /** Name servers to use instead of the system's. */
  servers?: readonly string[];
  hostsFile?: string;
  resolverFile?: string;
  timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const TRIES = 2;
/** Bounds the number of addresses; all of them are checked. */
const ADDRESSES_MAX = 64;

export function namesLookup(options: NamesOptions = {}): LookupFunction {
  return (hostname, { all }, callback) => {
    callbackify(lookUp)(hostname, options, (error, found) => {
      const [first] = found ?? [];
      if (error) return callback(error, '');
      if (!first) return callback(notFound(hostname), '');
      if (all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

async function lookUp(hostname: string, options: NamesOptions): Promise<LookupAddress[]> {
  const { hostsFile = '/etc/hosts', resolverFile = '/etc/resolv.conf' } = options;
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (isIP(name) !== 0) return [addressOf(name)];
  const own = hostsOf(await textOf(hostsFile), name);
  if (own.length > 0) return own.map(addressOf);
  // By RFC 6761 this name never leaves the machine.
  if (name === 'localhost' || name.endsWith('.localhost'))
    return ['127.0.0.1', '::1'].map(addressOf);
  const names = hostname.endsWith('.') ? [name] : searched(name, await textOf(resolverFile));
  for (const one of names) {
    const found = await ask(one, options);
    if (found.length > 0) return found.slice(0, ADDRESSES_MAX).map(addressOf);
  }
  return [];
}

/** Empty when the name does not exist; throws when no server answered. */
async function ask(name: string, { servers, timeoutMs = TIMEOUT_MS }: NamesOptions) {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES / 2), tries: TRIES });
  if (servers) resolver.setServers([...servers]);
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const failures = answers.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Error] : [],
    );
    const unclear = failures.find((reason: unknown) => !saysNo(reason));
    // A partial answer is refused: the missing part may be a forbidden address.
    if (unclear !== undefined) throw isCancelled(unclear) ? timedOut(name) : unclear;
    return found;
  } finally {
    clearTimeout(timer);
  }
}

function isCancelled(reason: unknown): boolean {
  return (reason as { code?: unknown }).code === 'ECANCELLED';
}

function timedOut(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no answer about ${name} in time`), { code: 'ETIMEOUT' });
}

function saysNo(reason: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(String((reason as { code?: unknown }).code));
}

/** The addresses of a name in a hosts file. */
export function hostsOf(file: string, name: string): string[] {
  return file.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    return isIP(address) !== 0 && names.includes(name) ? address : [];
  });
}

/** The names to try, in order: with few dots, below the search domains first. */
export function searched(name: string, file: string): string[] {
  const lines = file.split('\n').map((line) => line.trim().split(/\s+/));
  const last = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  const below = last.slice(1, 7).map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  const options = lines.filter(([word]) => word === 'options').flat();
  const dotsMin = Number(/ndots:(\d+)/.exec(options.join(' '))?.[1] ?? 1);
  const dots = name.split('.').length - 1;
  return dots >= dotsMin ? [name, ...below] : [...below, name];
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}

function addressOf(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address of ${hostname}`), { code: 'ENOTFOUND' });
}
