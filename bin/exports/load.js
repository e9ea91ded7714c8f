import { pathToFileURL } from 'node:url';
import { builtFolder } from '../built.cjs';

/** A module of a checkout, such as `client/index`: built, or from source where it cannot build. */
export async function load(name) {
  const built = builtFolder();
  if (built === null) return await import(new URL(`../../src/${name}.ts`, import.meta.url).href);
  return await import(pathToFileURL(`${built}/${name}.js`).href);
}
