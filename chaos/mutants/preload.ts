import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { mutantOf } from './catalogue.ts';

/**
 * Loaded into a server before anything else (`node --import`), it breaks the product on purpose: as
 * one source file is read, a piece of its text is replaced. The product itself has no switches. When
 * the piece is not there any more the server does not start, so that no mutant is ever a sound
 * program that everybody believes to be broken.
 */
const root = fileURLToPath(new URL('../../src/', import.meta.url));
const mutant = mutantOf(process.env['CHAOS_MUTANT'] ?? '');

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const path = url.startsWith('file:') ? fileURLToPath(url) : '';
    const changes = mutant.changes.filter(({ file }) => path === `${root}${file}`);
    if (changes.length === 0) return loaded;
    let source = String(loaded.source);
    for (const { file, find, replace } of changes) {
      if (source.split(find).length !== 2) {
        throw new Error(`mutant ${mutant.name}: ${file} does not hold this exactly once: ${find}`);
      }
      source = source.replace(find, () => replace);
    }
    return { ...loaded, source };
  },
});
