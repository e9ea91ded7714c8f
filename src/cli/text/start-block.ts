import type { AppSummary, Role } from '../../app/app.ts';
import { printable } from '../../core/values/printable.ts';
import { toCall } from './next-command.ts';

const NAME_WIDTH = 14;
const WIDTH = 92;

/** What a command runs until it is stopped. */
export type RunningRole = Role | 'ingest';

/** Start-up message of a role: addresses, definitions, first commands. */
export function startBlock(role: RunningRole, summary: AppSummary): string[] {
  const { database, address, slots, definitions } = summary;
  return [
    `Longshore is up${role === 'start' ? '' : ` (${role})`}`,
    ...fact('database', [database]),
    ...fact('address', address === null ? [] : [address]),
    ...fact('dashboard', address === null ? [] : [`${fromHere(address)}/ui/`]),
    ...(slots === null && definitions.length === 0 ? [] : definitionLines(summary)),
    ...fact('slots', slots === null ? [] : [String(slots)]),
    ...(role === 'start' && address !== null ? firstSteps(fromHere(address), summary) : []),
  ];
}

/** "All addresses of this machine" is where a server listens, and no address to go to. */
function fromHere(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Loaded definitions and load errors. */
export function definitionLines({ definitions, problems }: AppSummary): string[] {
  const names = definitions.map(({ key, version }) => (version === 1 ? key : `${key} v${version}`));
  return [
    ...fact('definitions', names.length > 0 ? wrap(names) : [noneOf(problems)]),
    ...problems.flatMap((problem) => fact('problem', [problem])),
  ];
}

/** Commands to copy; only names in capitals must be filled in. Of other definitions, the params are not known here. */
function firstSteps(address: string, { definitions }: AppSummary): string[] {
  if (definitions.length === 0) return [];
  const url = address === 'http://127.0.0.1:4400' ? '' : ` --url ${address}`;
  const body = JSON.stringify({ definitionKey: 'hello' });
  const first = definitions.some(({ key }) => key === 'hello')
    ? [
        `curl -sS ${address}/v1/jobs -H 'content-type: application/json' -d '${body}'`,
        toCall(`show ID${url}`),
      ]
    : [toCall(`definitions${url}`), toCall(`enqueue KEY PARAMS --wait${url}`)];
  return ['', 'Try it:', ...first.map((line) => `  ${line}`)];
}

function fact(name: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    return `  ${(index === 0 ? name : '').padEnd(NAME_WIDTH)}${printable(line)}`;
  });
}

function noneOf(problems: readonly string[]): string {
  return problems.length > 0
    ? 'none could be loaded (see below)'
    : 'none yet: put a file that calls defineJob into the jobs folder';
}

/** Wraps long lists of definitions. */
function wrap(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = '';
  for (const name of names) {
    const longer = line === '' ? name : `${line}, ${name}`;
    if (line !== '' && longer.length > WIDTH - NAME_WIDTH) {
      lines.push(`${line},`);
      line = name;
    } else line = longer;
  }
  return [...lines, line];
}
