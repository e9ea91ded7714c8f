import { pathToFileURL } from 'node:url';

/** The least that a process for one job has to do: load its definition and say one thing. */
await import(pathToFileURL(process.argv[2] ?? '').href);
process.send?.('ready', () => process.exit());
