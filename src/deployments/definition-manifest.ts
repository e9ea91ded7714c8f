import type { NewDefinition } from '../protocol/requests/deployment-body.ts';

const OF_THE_CALL = ['artifactId', 'runtime', 'cron', 'timezone', 'params', 'note', 'revision'];

/** The manifest of one definition that a call describes: `{key, artifactId, entrypoint, cron?, …}`. */
export function definitionManifest(body: NewDefinition): object {
  const { entrypoint, cron, timezone, params } = body;
  const isCommand =
    Array.isArray(entrypoint) || (typeof entrypoint === 'object' && 'command' in entrypoint);
  const { runtime = isCommand ? 'command' : 'node' } = body;
  const schedule = cron === undefined ? {} : { schedule: { cron, timezone, params } };
  const rules = Object.entries(body).filter(
    ([name, value]) => !OF_THE_CALL.includes(name) && value !== undefined,
  );
  const definition = { ...Object.fromEntries(rules), ...schedule };
  // Fields that are undefined are not given.
  return JSON.parse(JSON.stringify({ longshore: 1, runtime, definitions: [definition] })) as object;
}
