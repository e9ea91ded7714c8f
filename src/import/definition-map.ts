import { KEY_SHAPE } from '../core/definition/definition.ts';
import { ImportRefused } from './source.ts';

/** Which definition the jobs of a name become: `--map old=new`, and `--map '*=new'` for all others. */
export class DefinitionMap {
  readonly #keys: ReadonlyMap<string, string>;

  private constructor(keys: ReadonlyMap<string, string>) {
    this.#keys = keys;
  }

  static parse(pairs: readonly string[]): DefinitionMap {
    const keys = new Map<string, string>();
    for (const pair of pairs) {
      // A key of a definition has no "=", a name of another system may.
      const at = pair.lastIndexOf('=');
      const [old, key] = [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)];
      if (old === '') throw new ImportRefused(`--map ${JSON.stringify(pair)} must be OLD=NEW`);
      if (!KEY_SHAPE.test(key)) {
        throw new ImportRefused(`--map: ${JSON.stringify(key)} is no key of a definition`);
      }
      keys.set(old, key);
    }
    return new DefinitionMap(keys);
  }

  /** Null when the name is no key of a definition and nothing maps it. */
  keyOf(name: string): string | null {
    const key = this.#keys.get(name) ?? this.#keys.get('*') ?? name;
    return KEY_SHAPE.test(key) ? key : null;
  }
}
