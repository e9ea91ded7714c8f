import { type Check, ok, problem, warning } from './check.ts';

export type PortFacts =
  | { state: 'any' }
  | { state: 'free'; where: string }
  | { state: 'longshore'; where: string; version: string | null; ready: boolean }
  /** Another program listens there. */
  | { state: 'taken'; where: string }
  | { state: 'forbidden'; where: string; code: string }
  /** The settings do not allow it. */
  | { state: 'refused'; reason: string };

export function judgePort(facts: PortFacts): Check {
  switch (facts.state) {
    case 'any':
      return ok('port', 'any free port');
    case 'free':
      return ok('port', `${facts.where} is free`);
    case 'longshore': {
      const who = `Longshore${facts.version === null ? '' : ` ${facts.version}`}`;
      if (facts.ready) return ok('port', `${who} responds at ${facts.where}`);
      const detail = `${who} responds at ${facts.where}, but is not ready`;
      return warning('port', detail, 'check its log and the database');
    }
    case 'taken':
      return problem(
        'port',
        `another program listens on ${facts.where}`,
        'stop it, or set LONGSHORE_PORT to another port',
      );
    case 'forbidden':
      return problem(
        'port',
        `cannot listen on ${facts.where} (${facts.code})`,
        facts.code === 'EACCES'
          ? 'set LONGSHORE_PORT to a port above 1023'
          : 'set LONGSHORE_HOST to an address of this machine',
      );
    case 'refused':
      return problem('port', facts.reason, 'create a key, or set LONGSHORE_HOST to 127.0.0.1');
  }
}
